#include "kernel/emit_cuda.h"

#include <algorithm>

#include "kernel/indented_text.h"

namespace heddle {

namespace {

constexpr int kThreads = 128;
constexpr std::int64_t kMostBlocks = 1024;  // of a grid whose size does not matter

// Workers' scratch lies apart by this.
std::int64_t scratch_stride(const Kernel& kernel) {
  return (kernel.scratch_bytes + 255) / 256 * 256;
}

std::string function_name(const Kernel& kernel, std::size_t phase) {
  std::string name = kernel.name.empty() ? "kernel" : kernel.name;
  for (char& c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) c = '_';
  return fmt::format("k_{}_phase{}", name, phase);
}

bool is_shared(const Kernel& kernel, const CudaLimits& limits) {
  return kernel.scratch_bytes <= limits.shared_bytes;
}

class Emitter {
 public:
  Emitter(const Kernel& kernel, const CudaLimits& limits)
      : kernel_(kernel), shared_(is_shared(kernel, limits)) {}

  std::string emit() {
    text_ = IndentedText(std::string(cuda_prelude()));
    text_.line("struct Buffers {{ void* at[{}]; }};", kernel_.buffers.size() + 1);
    for (std::size_t p = 0; p < kernel_.phases.size(); ++p) emit(kernel_.phases[p], p);
    return text_.take();
  }

 private:
  template <typename... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    text_.line(format, std::forward<Args>(args)...);
    text_.deeper();
  }
  void close() {
    text_.back();
    text_.line("}}");
  }

  void emit(const Phase& phase, std::size_t number) {
    phase_ = &phase;
    text_.line("");
    text_.line("extern \"C\" __global__ void {}(const Buffers buffers, char* scratch) {{",
               function_name(kernel_, number));
    text_.deeper();
    if (shared_) {
      text_.line("extern __shared__ ulonglong2 own[];");
      text_.line("scratch = (char*)own;");
    } else {
      text_.line("scratch += {}ll * blockIdx.x;", scratch_stride(kernel_));
    }
    for (std::size_t b = 0; b < kernel_.buffers.size(); ++b) emit(kernel_.buffers[b], b);
    const std::int64_t blocks = phase.blocks();
    if (phase.chunks > 0) {
      text_.line("const i64 chunk = blockIdx.x;");
      for (const Stage& stage : phase.begin) emit(stage);
      open("for (i64 block = {0}ll * chunk / {1}; block < {0}ll * (chunk + 1) / {1}; ++block) {{",
           blocks, phase.chunks);
    } else {
      open("for (i64 block = blockIdx.x; block < {}ll; block += gridDim.x) {{", blocks);
    }
    std::int64_t inner = 1;
    for (std::size_t i = phase.outer.size(); i-- > 0;) {
      const OuterLoop& loop = phase.outer[i];
      text_.line("const i64 outer{} = block / {}ll % {}ll * {}ll;", i, inner,
                 std::max<std::int64_t>(loop.blocks(), 1), loop.block);
      inner *= std::max<std::int64_t>(loop.blocks(), 1);
    }
    for (const Stage& stage : phase.stages) emit(stage);
    close();
    close();
  }

  // Truth values are bytes in memory.
  static std::string_view memory_type(DType type) {
    return type == DType::i1 ? "ui8" : cuda_type(type);
  }

  void emit(const KernelBuffer& buffer, std::size_t number) {
    const std::string_view type = memory_type(buffer.dtype);
    if (buffer.reach == Reach::block)
      text_.line("{0}* b{1} = ({0}*)(scratch + {2}ll);", type, number, buffer.offset);
    else
      text_.line("{0}* b{1} = ({0}*)buffers.at[{1}];", type, number);
  }

  // The size of a loop; the last block of an outer loop may be short.
  std::string size_of(const StageLoop& loop) const {
    if (loop.block_of < 0) return fmt::format("{}ll", loop.size);
    const std::int64_t extent = phase_->outer[static_cast<std::size_t>(loop.block_of)].extent;
    return fmt::format("min({}ll, {}ll - outer{})", loop.size, extent, loop.block_of);
  }

  void emit(const Stage& stage) {
    const std::vector<bool> shared = shared_loops(stage);
    open("{{");
    std::string points;  // that threads share
    for (std::size_t i = 0; i < stage.loops.size(); ++i) {
      text_.line("const i64 size{} = {};", i, size_of(stage.loops[i]));
      if (shared[i]) points += fmt::format("{}size{}", points.empty() ? "" : " * ", i);
    }
    if (points.empty())
      open("if (threadIdx.x == 0) {{");
    else
      open("for (i64 point = threadIdx.x; point < {}; point += blockDim.x) {{", points);
    if (!points.empty()) emit_positions(stage, shared);
    int opened = 1;
    for (std::size_t i = 0; i < stage.loops.size(); ++i) {
      if (shared[i]) continue;
      open("for (i64 loop{0} = 0; loop{0} < size{0}; ++loop{0}) {{", i);
      ++opened;
    }
    for (std::size_t i = 0; i < stage.nodes.size(); ++i)
      text_.line("const {} n{} = {};", cuda_type(stage.nodes[i].type), i,
                 expression(stage.nodes[i], 'n'));
    for (const Statement& statement : stage.statements) emit(statement);
    while (opened-- > 0) close();
    close();
    text_.line("__syncthreads();");
  }

  void emit_positions(const Stage& stage, const std::vector<bool>& shared) {
    text_.line("i64 rest = point;");
    for (std::size_t i = stage.loops.size(); i-- > 0;) {
      if (!shared[i]) continue;
      text_.line("const i64 loop{0} = rest % size{0};", i);
      text_.line("rest /= size{};", i);
    }
  }

  std::string expression(const Node& node, char operand) const {
    const std::string_view type = cuda_type(node.type);
    switch (node.kind) {
      case NodeKind::constant:
        return fmt::format("h_constant<{}>({:#x}ull)", type, node.bits);
      case NodeKind::outer:
        return fmt::format("outer{}", node.number);
      case NodeKind::loop:
        return fmt::format("loop{}", node.number);
      case NodeKind::chunk:
        return "chunk";
      case NodeKind::parameter:
        return fmt::format("p{}", node.number);
      case NodeKind::load:
        return load(node);
      case NodeKind::scalar:
        break;
    }
    const bool casts = node.op == ScalarOp::convert || node.op == ScalarOp::bitcast;
    std::string text = fmt::format("h_{}", name(node.op));
    if (casts) text += fmt::format("<{}>", type);
    text += '(';
    for (int k = 0; k < operand_count(node.op); ++k)
      text += fmt::format("{}{}{}", k ? ", " : "", operand, node.in[static_cast<std::size_t>(k)]);
    return text + ')';
  }

  std::string element(std::uint32_t buffer, std::string_view index) const {
    const bool truth = kernel_.buffers[buffer].dtype == DType::i1;
    return fmt::format("{}b{}[{}]{}", truth ? "(" : "", buffer, index, truth ? " != 0)" : "");
  }

  std::string load(const Node& node) const {
    std::string there = element(node.number, fmt::format("n{}", node.in[0]));
    if (node.in[1] == kNone) return there;
    const std::string other = node.in[2] == kNone
                                  ? fmt::format("h_constant<{}>(0)", cuda_type(node.type))
                                  : fmt::format("n{}", node.in[2]);
    return fmt::format("n{} ? {} : {}", node.in[1], there, other);
  }

  void emit(const Statement& statement) {
    if (statement.guard == kNone)
      open("{{");
    else
      open("if (n{}) {{", statement.guard);
    if (statement.kind == Statement::Kind::store)
      text_.line("b{}[n{}] = n{};", statement.buffers[0], statement.index, statement.values[0]);
    else
      emit_combination(statement);
    close();
  }

  void emit_combination(const Statement& statement) {
    const std::size_t count = statement.values.size();
    auto type_of = [&](std::size_t k) {
      return cuda_type(kernel_.buffers[statement.buffers[k]].dtype);
    };
    for (std::size_t k = 0; k < count; ++k) {
      text_.line("const {} p{} = {};", type_of(k), k,
                 element(statement.buffers[k], fmt::format("n{}", statement.index)));
      text_.line("const {} p{} = n{};", type_of(k), count + k, statement.values[k]);
    }
    const Combiner& combiner = statement.combiner;
    const bool known = combiner.op != ScalarOp::none;
    if (known) text_.line("const {} c0 = h_{}(p0, p1);", type_of(0), name(combiner.op));
    for (std::size_t i = 0; i < combiner.nodes.size(); ++i)
      text_.line("const {} c{} = {};", cuda_type(combiner.nodes[i].type), i,
                 expression(combiner.nodes[i], 'c'));
    for (std::size_t k = 0; k < count; ++k) {
      const NodeId result = known ? 0 : combiner.results[k];
      text_.line("b{}[n{}] = c{};", statement.buffers[k], statement.index, result);
      if (statement.kind == Statement::Kind::scan)
        text_.line("b{}[n{}] = c{};", statement.buffers[count + k], statement.scan_index, result);
    }
  }

  const Kernel& kernel_;
  const bool shared_;  // whether scratch is shared memory
  const Phase* phase_ = nullptr;
  IndentedText text_;
};

}  // namespace

std::string emit_cuda(const Kernel& kernel, const CudaLimits& limits) {
  return Emitter(kernel, limits).emit();
}

CudaPlan cuda_plan(const Kernel& kernel, const CudaLimits& limits) {
  CudaPlan launch;
  std::int64_t most = 0;
  for (std::size_t p = 0; p < kernel.phases.size(); ++p) {
    const Phase& phase = kernel.phases[p];
    const std::int64_t grid =
        phase.chunks > 0 ? phase.chunks : std::min(phase.blocks(), kMostBlocks);
    launch.phases.push_back({function_name(kernel, p), grid, kThreads});
    most = std::max(most, grid);
  }
  if (is_shared(kernel, limits))
    launch.shared_bytes = kernel.scratch_bytes;
  else
    launch.scratch_bytes = most * scratch_stride(kernel);
  return launch;
}

}  // namespace heddle
