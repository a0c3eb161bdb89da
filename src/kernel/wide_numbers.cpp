#include "kernel/wide_numbers.h"

#include <bit>

#include "ir/eval/scalar.h"
#include "kernel/node_table.h"

namespace heddle {

namespace {

bool is_narrow(DType type) { return type == DType::f16 || type == DType::bf16; }

// Whether f32 gives the same number or a better one.
bool is_computed_wide(ScalarOp op) {
  switch (op) {
    case ScalarOp::sqrt:
    case ScalarOp::rsqrt:
    case ScalarOp::cbrt:
    case ScalarOp::exp:
    case ScalarOp::expm1:
    case ScalarOp::log:
    case ScalarOp::log1p:
    case ScalarOp::sin:
    case ScalarOp::cos:
    case ScalarOp::tan:
    case ScalarOp::tanh:
    case ScalarOp::logistic:
    case ScalarOp::erf:
    case ScalarOp::add:
    case ScalarOp::subtract:
    case ScalarOp::multiply:
    case ScalarOp::divide:
    case ScalarOp::power:
    case ScalarOp::atan2:
      return true;
    default:
      return false;
  }
}

// These round nothing, so that they are done in whichever type their numbers have.
bool is_done_in_either(ScalarOp op) {
  switch (op) {
    case ScalarOp::abs:
    case ScalarOp::negate:
    case ScalarOp::minimum:
    case ScalarOp::maximum:
    case ScalarOp::select:
    case ScalarOp::clamp:
      return true;
    default:
      return false;
  }
}

std::uint64_t as_f32(DType type, std::uint64_t bits) {
  return dispatch(type, [&](auto tag) -> std::uint64_t {
    using T = typename decltype(tag)::type;
    if constexpr (sizeof(T) == sizeof(std::uint16_t) && FloatScalar<T>) {
      const T number = std::bit_cast<T>(static_cast<std::uint16_t>(bits));
      return std::bit_cast<std::uint32_t>(convert_scalar<float>(number));
    }
    return 0;
  });
}

class WideStage {
 public:
  explicit WideStage(Stage& stage) : stage_(stage) {}

  void run() {
    for (const Node& node : stage_.nodes) made_.push_back(rewritten(node));
    for (Statement& statement : stage_.statements) {
      for (NodeId& value : statement.values) value = as_it_was(value);
      for (NodeId* node : {&statement.index, &statement.guard, &statement.scan_index})
        if (*node != kNone) *node = as_it_was(*node);
    }
    stage_.nodes = table_.take();
  }

 private:
  // A node in its own type, in f32, or in both.
  struct Made {
    NodeId own = kNone, wide = kNone;
    DType type = DType::f32;
  };

  Made rewritten(const Node& node) {
    if (is_narrow(node.type) && node.kind == NodeKind::scalar && computes_wide(node))
      return {kNone, with_inputs(node, DType::f32, true), node.type};
    // What is widened need not be rounded before.
    if (node.op == ScalarOp::convert && node.type == DType::f32 &&
        is_narrow(stage_.nodes[node.in[0]].type))
      return {wide(node.in[0]), kNone, node.type};
    return {with_inputs(node, node.type, false), kNone, node.type};
  }

  bool computes_wide(const Node& node) const {
    if (is_computed_wide(node.op)) return true;
    if (!is_done_in_either(node.op)) return false;
    for (NodeId in : node.in)
      if (in != kNone && made_[in].wide != kNone && made_[in].own == kNone) return true;
    return false;
  }

  NodeId with_inputs(Node node, DType type, bool in_wide) {
    for (NodeId& in : node.in)
      if (in != kNone) in = in_wide && is_narrow(made_[in].type) ? wide(in) : as_it_was(in);
    node.type = type;
    return table_.copy(node);
  }

  NodeId wide(NodeId old) {
    Made& made = made_[old];
    if (made.wide != kNone) return made.wide;
    const Node& node = stage_.nodes[old];
    made.wide = node.kind == NodeKind::constant
                    ? table_.constant(DType::f32, as_f32(node.type, node.bits))
                    : table_.scalar(ScalarOp::convert, DType::f32, made.own);
    return made.wide;
  }

  NodeId as_it_was(NodeId old) {
    Made& made = made_[old];
    if (made.own == kNone) made.own = table_.scalar(ScalarOp::convert, made.type, made.wide);
    return made.own;
  }

  Stage& stage_;
  NodeTable table_;
  std::vector<Made> made_;
};

}  // namespace

Kernel with_wide_numbers(Kernel kernel) {
  for (Phase& phase : kernel.phases)
    for (std::vector<Stage>* stages : {&phase.begin, &phase.stages})
      for (Stage& stage : *stages) WideStage(stage).run();
  return kernel;
}

}  // namespace heddle
