// A kernel as text:
//
//   scratch 8 temporary 0
//   b0 in f32 x 4096
//   b1 block f32 x 2 at 0
//   phase outer 64/2
//     stage for 2 of outer 0, 32
//       %0 = loop 0 : i64
//       %1 = load b0[%0] : f32
//       update b1[%0] by add with %1
#include <fmt/ranges.h>

#include "heddle/hash.h"
#include "heddle/kernel.h"
#include "kernel/indented_text.h"

namespace heddle {

namespace {

class Printer {
 public:
  std::string print(const Kernel& kernel) {
    text_.line("scratch {} temporary {}", kernel.scratch_bytes, kernel.temporary_bytes);
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) print(kernel.buffers[i], i);
    for (const Phase& phase : kernel.phases) print(phase);
    return text_.take();
  }

 private:
  void print(const KernelBuffer& buffer, std::size_t number) {
    const bool placed = buffer.reach == Reach::block || buffer.reach == Reach::phases;
    text_.line("b{} {} {} x {}{}{}", number, name(buffer.reach), name(buffer.dtype),
               buffer.elements, placed ? fmt::format(" at {}", buffer.offset) : "",
               buffer.streamed ? " streamed" : "");
  }

  void print(const Phase& phase) {
    std::string loops;
    for (const OuterLoop& loop : phase.outer)
      fmt::format_to(std::back_inserter(loops), "{} {}/{}", loops.empty() ? " outer" : ",",
                     loop.extent, loop.block);
    text_.line("phase{}{}", loops, phase.chunks ? fmt::format(" in {} chunks", phase.chunks) : "");
    text_.deeper();
    for (const Stage& stage : phase.begin) print(stage, "begin");
    for (const Stage& stage : phase.stages) print(stage, "stage");
    text_.back();
  }

  void print(const Stage& stage, std::string_view word) {
    std::string loops;
    for (const StageLoop& loop : stage.loops) {
      fmt::format_to(std::back_inserter(loops), "{} {}", loops.empty() ? " for" : ",", loop.size);
      if (loop.block_of >= 0)
        fmt::format_to(std::back_inserter(loops), " of outer {}", loop.block_of);
    }
    text_.line("{}{}", word, loops);
    text_.deeper();
    print(stage.nodes);
    for (const Statement& statement : stage.statements) print(statement);
    text_.back();
  }

  void print(const std::vector<Node>& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      text_.line("%{} = {} : {}", i, expression(nodes[i]), name(nodes[i].type));
  }

  static std::string operands(std::span<const NodeId> ids) {
    std::string text;
    for (NodeId id : ids)
      if (id != kNone)
        fmt::format_to(std::back_inserter(text), "{}%{}", text.empty() ? "" : ", ", id);
    return text;
  }

  static std::string expression(const Node& node) {
    switch (node.kind) {
      case NodeKind::constant:
        return fmt::format("constant {:#x}", node.bits);
      case NodeKind::outer:
        return fmt::format("outer {}", node.number);
      case NodeKind::loop:
        return fmt::format("loop {}", node.number);
      case NodeKind::chunk:
        return "chunk";
      case NodeKind::parameter:
        return fmt::format("parameter {}", node.number);
      case NodeKind::scalar:
        return fmt::format("{} {}", name(node.op), operands(node.in));
      case NodeKind::load:
        break;
    }
    std::string text = fmt::format("load b{}[%{}]", node.number, node.in[0]);
    if (node.in[1] != kNone) text += fmt::format(" if %{}", node.in[1]);
    if (node.in[2] != kNone) text += fmt::format(" else %{}", node.in[2]);
    return text;
  }

  void print(const Statement& statement) {
    std::string target;
    for (std::size_t k = 0; k < statement.buffers.size(); ++k) {
      const bool scanned =
          statement.kind == Statement::Kind::scan && 2 * k >= statement.buffers.size();
      fmt::format_to(std::back_inserter(target), "{}b{}[%{}]", k ? ", " : "", statement.buffers[k],
                     scanned ? statement.scan_index : statement.index);
    }
    const std::string guard =
        statement.guard == kNone ? "" : fmt::format(" if %{}", statement.guard);
    const std::string values = operands(statement.values);
    if (statement.kind == Statement::Kind::store)
      return text_.line("store {} = {}{}", target, values, guard);
    const Combiner& combiner = statement.combiner;
    text_.line("{} {} by {} with {}{}{}",
               statement.kind == Statement::Kind::scan ? "scan" : "update", target,
               combiner.op == ScalarOp::none ? "graph" : name(combiner.op), values, guard,
               statement.any_order ? "" : " in order");
    if (combiner.op != ScalarOp::none) return;
    text_.deeper();
    print(combiner.nodes);
    text_.line("give {}", operands(combiner.results));
    text_.back();
  }

  IndentedText text_;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer().print(kernel); }

std::uint64_t hash(const Kernel& kernel) { return hash_combine(0, print(kernel)); }

}  // namespace heddle
