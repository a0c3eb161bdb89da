// Sums of squares about a mean that need no reading of their own.
#include <algorithm>

#include "kernel/cuda_image.h"

namespace heddle {

std::vector<bool> differs_by_row(const Stage& stage) {
  std::vector<bool> differs;
  for (const Node& node : stage.nodes) {
    bool own = node.kind == NodeKind::loop && node.number + 1 != stage.loops.size();
    for (NodeId in : node.in) own = own || (in != kNone && differs[in]);
    differs.push_back(own);
  }
  return differs;
}

namespace {

// The same expression, of inputs alone.
bool is_same(const Kernel& kernel, const Stage& a, NodeId in_a, const Stage& b, NodeId in_b) {
  if ((in_a == kNone) != (in_b == kNone)) return false;
  if (in_a == kNone) return true;
  const Node &x = a.nodes[in_a], &y = b.nodes[in_b];
  if (x.kind != y.kind || x.op != y.op || x.type != y.type || x.number != y.number ||
      x.bits != y.bits)
    return false;
  if (x.kind == NodeKind::load && kernel.buffers[x.number].reach != Reach::input) return false;
  for (std::size_t i = 0; i < x.in.size(); ++i)
    if (!is_same(kernel, a, x.in[i], b, y.in[i])) return false;
  return true;
}

bool has_same_loops(const Stage& a, const Stage& b) {
  return std::ranges::equal(a.loops, b.loops, [](const StageLoop& x, const StageLoop& y) {
    return x.size == y.size && x.block_of == y.block_of;
  });
}

bool is_one_sum(const Stage& stage) {
  return stage.statements.size() == 1 && stage.statements[0].combiner.op == ScalarOp::add &&
         stage.nodes[stage.statements[0].values[0]].type == DType::f32;
}

// Whether the later stage adds up squares of what the earlier one adds up, less the same for all
// rows.
bool are_squares(const Kernel& kernel, const Stage& earlier, const Stage& later) {
  if (!is_one_sum(earlier) || !is_one_sum(later) || !has_same_loops(earlier, later)) return false;
  const Node& square = later.nodes[later.statements[0].values[0]];
  if (square.op != ScalarOp::multiply || square.in[0] != square.in[1]) return false;
  const Node& off = later.nodes[square.in[0]];
  return off.op == ScalarOp::subtract && off.type == DType::f32 &&
         !differs_by_row(later)[off.in[1]] &&
         is_same(kernel, earlier, earlier.statements[0].values[0], later, off.in[0]);
}

}  // namespace

std::vector<std::uint32_t> cuda_image_squares(const Kernel& kernel, const Phase& phase,
                                              const std::vector<CudaImageStage>& stages) {
  std::vector<std::uint32_t> found(stages.size(), kNone);
  for (std::size_t later = 0; later < stages.size(); ++later) {
    if (stages[later] != CudaImageStage::sums) continue;
    // Only the last one before it: partial sums of others are gone by then.
    for (std::size_t s = later; s-- > 0;) {
      if (stages[s] == CudaImageStage::small || found[s] != kNone) continue;
      if (stages[s] == CudaImageStage::sums &&
          are_squares(kernel, phase.stages[s], phase.stages[later]))
        found[later] = static_cast<std::uint32_t>(s);
      break;
    }
  }
  return found;
}

}  // namespace heddle
