#include "kernel/count_work.h"

#include <algorithm>
#include <cmath>

#include "cost/instructions.h"
#include "kernel/emit_llvm_shape.h"
#include "kernel/strides.h"

namespace heddle {

namespace {

// Beside a vector instruction: a scalar one, of which processors do more at a time; arithmetic of
// indices, which mostly becomes a part of addresses; and a turn of a loop.
constexpr double kOneLane = 0.5, kPlace = 0.1, kLoopTurn = 0.5;
// Vector instructions to combine the lanes of a vector, and those of a load that is turned in a
// square of registers.
constexpr double kAcrossLanes = 12, kSquare = 6;
// Registers of AVX-512, whose accesses take a mask.
constexpr double kMaskedVector = 64;

// Whole numbers are divided by constants, which takes a product and a shift.
Instructions cost_of(const Node& node) {
  if (!is_integer(node.type)) return instructions_of(node.op, node.type);
  const bool divides = node.op == ScalarOp::divide || node.op == ScalarOp::remainder;
  return {.light = divides ? 4.0 : 1.0};
}

class StageCounter {
 public:
  StageCounter(const Kernel& kernel, const Phase& phase, const Stage& stage,
               const VectorTarget& target, double blocks)
      : kernel_(kernel),
        phase_(phase),
        stage_(stage),
        shape_(analyse(phase, stage, kernel, target)),
        vector_bytes_(target.vector_bytes),
        f32_lanes_(target.vector_bytes / 4.0) {
    if (goes_by_squares())
      around_ =
          strides_along(stage, shape_.loops[static_cast<std::size_t>(shape_.depth() - 2)].number);
    turns_.push_back(blocks);
    for (const KeptLoop& loop : shape_.loops) turns_.push_back(turns_.back() * positions(loop));
    if (shape_.vectorised)
      turns_.back() =
          turns_[turns_.size() - 2] * std::ceil(positions(shape_.loops.back()) / shape_.lanes);
  }

  KernelWork run() {
    work_.starts = turns_.front();
    if (shape_.empty) return work_;
    for (std::size_t level = 1; level < turns_.size(); ++level) add_light(kLoopTurn, turns_[level]);
    for (NodeId id = 0; id < stage_.nodes.size(); ++id) count_node(id);
    for (std::size_t i = 0; i < stage_.statements.size(); ++i) count_statement(i);
    return work_;
  }

 private:
  // Whether loads along the loop around the vectorised one can be turned in registers, as
  // StageEmitter::find_tiles() has it.
  bool goes_by_squares() const {
    constexpr int kLeastLanes = 4, kMostLanes = 16;
    const int depth = shape_.depth(), lanes = shape_.lanes;
    if (!shape_.vectorised || depth < 2 || lanes < kLeastLanes || lanes > kMostLanes) return false;
    if (shape_.loops[static_cast<std::size_t>(depth - 2)].size < lanes) return false;
    if (shape_.loops.back().size < lanes) return false;
    return std::ranges::none_of(shape_.statements, [&](const StatementPlan& plan) {
      return plan.way == Way::row_accumulator || plan.depth == depth - 1 ||
             (plan.depth == depth && plan.way != Way::vector);
    });
  }

  // In the mean over all blocks.
  double positions(const KeptLoop& loop) const {
    if (loop.block_of < 0) return static_cast<double>(loop.size);
    const OuterLoop& outer = phase_.outer[static_cast<std::size_t>(loop.block_of)];
    return static_cast<double>(outer.extent) / static_cast<double>(outer.blocks());
  }

  double turns(int depth) const { return turns_[static_cast<std::size_t>(depth)]; }
  bool is_vector(const NodeShape& node) const {
    return shape_.vectorised && node.vector_needed && node.depth == shape_.depth();
  }
  // Vectors that the lanes of a type fill.
  double vectors(DType type) const {
    return std::max(1.0, static_cast<double>(shape_.lanes * byte_size(type)) / vector_bytes_);
  }

  void add_light(double instructions, double times) {
    work_.light += instructions * times * f32_lanes_;
  }
  void add_accesses(double count, double times) { work_.accesses += count * times * f32_lanes_; }

  void count_node(NodeId id) {
    const Node& node = stage_.nodes[id];
    const NodeShape& shape = shape_.nodes[id];
    const double times = turns(shape.depth);
    if (node.kind == NodeKind::load) return count_load(node, shape, times);
    if (node.kind != NodeKind::scalar) return;
    if (!is_vector(shape)) {
      if (!shape.scalar_needed) return;
      if (node.type == DType::i64) return add_light(kPlace, times);
      const Instructions one = cost_of(node);
      add_light(kOneLane * std::max(1.0, one.light), times);
      work_.heavy += one.heavy * times * f32_lanes_;
      return;
    }
    const double wide = node.type == DType::i64 && shape.narrow ? 1 : vectors(node.type);
    const Instructions one = cost_of(node);
    add_light(one.light * wide, times);
    work_.heavy += one.heavy * wide * times * f32_lanes_;
  }

  void count_load(const Node& node, const NodeShape& shape, double times) {
    if (!is_vector(shape)) return add_accesses(kOneLane, times);
    count_access(node.in[0], node.type, times, node.in[1] == kNone);
    const bool masks_are_free = vector_bytes_ == kMaskedVector;
    if (node.in[1] != kNone && !masks_are_free) add_light(1, times);
  }

  // Neighbours are one access of a vector; what lies along the loop around is turned in registers;
  // all else goes lane by lane.
  void count_access(NodeId index, DType type, double times, bool may_turn) {
    const NodeShape& place = shape_.nodes[index];
    if (place.lanes == NodeShape::Lanes::same) return add_accesses(kOneLane, times);
    const bool affine = place.lanes == NodeShape::Lanes::affine;
    if (affine && place.stride == 1) return add_accesses(vectors(type), times);
    const bool along = may_turn && affine && !around_.empty() && around_[index] == 1;
    const double inner = shape_.loops.empty() ? 1 : positions(shape_.loops.back());
    if (along) return add_light(kSquare, times);
    work_.lanes += times * std::min<double>(shape_.lanes, inner);
  }

  void count_statement(std::size_t i) {
    const Statement& s = stage_.statements[i];
    const StatementPlan& plan = shape_.statements[i];
    const double inner = turns_.back(), lanes = shape_.vectorised ? shape_.lanes : 1;
    const auto count = static_cast<double>(s.values.size());
    const DType type = kernel_.buffers[s.buffers[0]].dtype;
    switch (plan.way) {
      case Way::scalar:
        return add_accesses(2 * kOneLane * count, turns(plan.depth));
      case Way::vector:
        for (double v = 0; v < count; ++v) count_access(s.index, type, inner, false);
        if (s.kind != Statement::Kind::store) add_light(2 * count * vectors(type), inner);
        return;
      case Way::lane_by_lane:
      case Way::scalar_accumulator:
        work_.lanes += 2 * count * inner * lanes;
        return;
      case Way::vector_scan:
        return add_light(kAcrossLanes * count * vectors(type), inner);
      default: {
        const double ops = s.combiner.op != ScalarOp::none
                               ? std::max(1.0, instructions_of(s.combiner.op, DType::f32).light)
                               : static_cast<double>(s.combiner.nodes.size());
        add_light(ops * count * vectors(type), inner);
        add_light(kAcrossLanes * count, turns(plan.depth));
      }
    }
  }

  const Kernel& kernel_;
  const Phase& phase_;
  const Stage& stage_;
  const StageShape shape_;
  const double vector_bytes_, f32_lanes_;
  Strides around_;             // along the loop around the vectorised one
  std::vector<double> turns_;  // by depth: how often it is entered; of the last one, by vectors
  KernelWork work_;
};

}  // namespace

KernelWork count_work(const Kernel& kernel, const Phase& phase, const VectorTarget& target) {
  KernelWork all;
  const auto chunks = static_cast<double>(std::max<std::int64_t>(phase.chunks, 1));
  for (const Stage& stage : phase.begin)
    all += StageCounter(kernel, phase, stage, target, chunks).run();
  const auto blocks = static_cast<double>(phase.blocks());
  for (const Stage& stage : phase.stages)
    all += StageCounter(kernel, phase, stage, target, blocks).run();
  return all;
}

}  // namespace heddle
