#include "kernel/emit_llvm.h"

#include <set>

#include "ir/eval/scalar_function.h"
#include "kernel/emit_llvm_stage.h"

namespace heddle {

namespace {

Verdict check_type(DType type) {
  if (is_kernel_type(type)) return yes();
  return reason(
      "[emit_llvm] a kernel holds {}, but kernels compute with i1, integers of 8 to 64 bits, f16, "
      "bf16, f32 and f64 only: leave such ops to the reference evaluation",
      name(type));
}

Verdict check_types(const Kernel& kernel) {
  for (const KernelBuffer& b : kernel.buffers) HEDDLE_TRY_VOID(check_type(b.dtype));
  for (const Phase& phase : kernel.phases)
    for (const auto* stages : {&phase.begin, &phase.stages})
      for (const Stage& stage : *stages) {
        for (const Node& n : stage.nodes) HEDDLE_TRY_VOID(check_type(n.type));
        for (const Statement& s : stage.statements)
          for (const Node& n : s.combiner.nodes) HEDDLE_TRY_VOID(check_type(n.type));
      }
  return yes();
}

// Addresses of the buffers that the phase touches.
std::vector<std::string> load_addresses(LlvmWriter& w, const Kernel& kernel, const Phase& phase) {
  std::set<std::uint32_t> used;
  for (const auto* stages : {&phase.begin, &phase.stages})
    for (const Stage& stage : *stages) {
      for (const Node& n : stage.nodes)
        if (n.kind == NodeKind::load) used.insert(n.number);
      for (const Statement& s : stage.statements) used.insert(s.buffers.begin(), s.buffers.end());
    }
  std::vector<std::string> result(kernel.buffers.size());
  for (std::uint32_t b : used) {
    const KernelBuffer& buffer = kernel.buffers[b];
    if (buffer.reach == Reach::block) {
      result[b] = w.set_at_entry("getelementptr i8, ptr %scratch, i64 {}", buffer.offset);
    } else {
      const std::string slot = w.set_at_entry("getelementptr ptr, ptr %buffers, i64 {}", b);
      result[b] = w.set_at_entry("load ptr, ptr {}, !align !1", slot);
    }
  }
  return result;
}

// Positions along the outer loops, stepped without dividing.
class OuterPositions {
 public:
  OuterPositions(LlvmWriter& writer, const Phase& phase) : w_(writer), phase_(phase) {
    slots_.resize(phase.outer.size());
    std::string rest = "%first_block";
    for (std::size_t k = phase.outer.size(); k-- > 0;) {
      const OuterLoop& loop = phase.outer[k];
      const std::int64_t blocks = std::max<std::int64_t>(1, loop.blocks());
      const std::string number = w_.set("urem i64 {}, {}", rest, blocks);
      rest = w_.set("udiv i64 {}, {}", rest, blocks);
      slots_[k] = w_.stack("i64");
      w_.put("store i64 {}, ptr {}", w_.set("mul i64 {}, {}", number, loop.block), slots_[k]);
    }
  }

  std::vector<std::string> now() const {
    std::vector<std::string> result;
    for (const std::string& slot : slots_) result.push_back(w_.set("load i64, ptr {}", slot));
    return result;
  }

  void step(const std::vector<std::string>& at) const {
    std::string carry = "true";
    for (std::size_t k = slots_.size(); k-- > 0;) {
      const OuterLoop& loop = phase_.outer[k];
      const std::string by = w_.set("select i1 {}, i64 {}, i64 0", carry, loop.block);
      const std::string next = w_.set("add nsw i64 {}, {}", at[k], by);
      carry = w_.set("icmp sge i64 {}, {}", next, loop.extent);
      w_.put("store i64 {}, ptr {}", w_.set("select i1 {}, i64 0, i64 {}", carry, next), slots_[k]);
    }
  }

 private:
  LlvmWriter& w_;
  const Phase& phase_;
  std::vector<std::string> slots_;
};

// `header`: how the function begins, with its name.
std::string emit_phase(const Kernel& kernel, std::size_t number, std::string_view header,
                       const VectorTarget& target, std::set<std::string>& declarations) {
  const Phase& phase = kernel.phases[number];
  LlvmWriter w(target);
  PhaseScope scope{kernel, phase, w, load_addresses(w, kernel, phase), {}};
  for (const Stage& stage : phase.begin) StageEmitter(scope, stage).emit();
  if (!phase.stages.empty()) {
    const OuterPositions positions(w, phase);
    w.loop("%first_block", "%last_block", 1, [&](const std::string&) {
      scope.outer = positions.now();
      for (const Stage& stage : phase.stages) StageEmitter(scope, stage).emit();
      positions.step(scope.outer);
    });
  }
  // What went past the caches must be there before anybody is told so.
  if (scope.streams && target.family == VectorTarget::Family::x86)
    w.call_void("llvm.x86.sse.sfence", "");
  w.put("ret void");
  declarations.insert(w.declarations().begin(), w.declarations().end());
  return w.function(header);
}

std::string header_of(std::string_view name, std::string_view attributes) {
  return fmt::format(
      "define {}(ptr noalias %buffers, i64 %first_block, i64 %last_block, ptr %scratch, "
      "i64 %chunk) {}",
      name, attributes);
}

}  // namespace

Expected<std::string> emit_llvm(const Kernel& kernel, const VectorTarget& target) {
  HEDDLE_TRY_VOID(check_types(kernel));
  std::set<std::string> declarations;
  std::string functions;
  for (std::size_t p = 0; p < kernel.phases.size(); ++p) {
    const std::string header = header_of(fmt::format("void @phase{}", p), "#0");
    functions += emit_phase(kernel, p, header, target, declarations) + "\n";
  }
  return llvm_text(functions, declarations, target);
}

Expected<std::string> emit_llvm_parts(const Kernel& kernel, std::string_view prefix,
                                      const VectorTarget& target,
                                      std::set<std::string>& declarations) {
  HEDDLE_TRY_VOID(check_types(kernel));
  std::string functions;
  for (std::size_t p = 0; p < kernel.phases.size(); ++p) {
    const std::string header =
        header_of(fmt::format("internal void @{}phase{}", prefix, p), "alwaysinline #0");
    functions += emit_phase(kernel, p, header, target, declarations) + "\n";
  }
  return functions;
}

std::string llvm_text(std::string_view functions, const std::set<std::string>& declarations,
                      const VectorTarget& target) {
  std::string text = "@zeros = private constant [512 x i8] zeroinitializer, align 64\n\n";
  text += functions;
  for (const std::string& d : declarations) text += d + "\n";
  text += fmt::format(
      "\nattributes #0 = {{ nounwind \"stackrealign\" \"prefer-vector-width\"=\"{0}\" "
      "\"min-legal-vector-width\"=\"{0}\" }}\n"
      "attributes #1 = {{ nounwind willreturn memory(none) }}\n"
      "!0 = !{{i32 1}}\n!1 = !{{i64 64}}\n",
      8 * target.vector_bytes);
  return text;
}

}  // namespace heddle
