// Writes one stage of a kernel: values of the program at points of its loops, found by going back
// from results to operands as the index rules say.
#pragma once

#include <map>
#include <unordered_map>

#include "kernel/index_expr.h"
#include "stitch/loop_plan.h"

namespace heddle {

// What all stages of a kernel share.
struct KernelWriter {
  const Program& program;
  const StitchGroup& group;
  const LoopPlan& loop_plan;
  Kernel kernel;
  std::unordered_map<ValueId, std::uint32_t> buffers;  // of inputs and outputs
  std::unordered_map<ValueId, std::uint32_t> kept;     // of reach block, first phase
  std::unordered_map<ValueId, std::uint32_t> whole;    // results of crossing reductions
  std::unordered_set<OpId> members;
  // Rows that a block has of a value, from `low` rows behind its own first on (sweeps.h).
  struct Rows {
    std::uint32_t buffer = 0;
    std::int64_t low = 0;
  };
  std::unordered_map<ValueId, Rows> rows = {};

  std::uint32_t buffer_of(ValueId value);
  std::uint32_t add_buffer(Reach reach, DType dtype, std::int64_t elements);
};

using Indices = std::vector<IndexSum>;

class StageWriter {
 public:
  // Kept values of a lower level are loaded, all others computed. In the tail there are only those
  // of `whole`.
  StageWriter(KernelWriter& kernel, int level, bool tail);

  // Opens a loop for every axis that runs inside of a block.
  void open(const AxisList& axes);
  // One loop over several axes that run inside of a block, the last one fastest; it will be the
  // innermost.
  void open_run(const AxisList& axes);
  // Whether all that is touched follows that loop step by step, or not the others at all.
  bool runs_evenly() const;
  // A loop that is no axis.
  LeafId open(std::int64_t size);
  // One over the last dimension of what is written, along which memory is best gone through.
  LeafId open_row(std::int64_t size);
  // One loop over all elements of a flat range, as outer loop 0 in blocks.
  LeafId open_flat(std::int64_t extent, std::int64_t block);

  // The rows of a block of outer loop 0, with more at both ends; the index of a row, which may lie
  // outside, and its place among those of the block.
  struct BlockRow {
    IndexSum row, place;
  };
  BlockRow open_rows(std::int64_t extent, std::int64_t block, std::int64_t low, std::int64_t high);

  // The indices of a value whose axes are all at hand.
  Expected<Indices> here(ValueId value);
  Expected<NodeId> value_at(ValueId value, const Indices& at, NodeId guard = kNone);

  // Writes an output of the group; a complex one as its two parts.
  Verdict store_output(ValueId value, const Indices& at);
  void store(std::uint32_t buffer, const IndexSum& index, NodeId value, NodeId guard = kNone);
  void update(const std::vector<std::uint32_t>& buffers, const IndexSum& index,
              const std::vector<NodeId>& values, NodeId guard, Combiner combiner,
              bool in_order = false);
  // Whether the index follows the loops alone, and no data.
  bool is_known(const IndexSum& index) const;

  void scan(std::uint32_t carry, const IndexSum& index, NodeId value, std::uint32_t to,
            const IndexSum& to_index, Combiner combiner);

  // Row-major over all dimensions of a shape.
  IndexSum flat(const Shape& shape, const Indices& at);
  Indices unflat(const Shape& shape, const IndexSum& flat);
  // Where a kept value lies in its buffer.
  Expected<IndexSum> kept_index(ValueId value, const Indices& at);
  // Row-major over axes, at the positions of this point inside of the block.
  Expected<IndexSum> local_index(const AxisList& axes);
  // Values of the factors of a reduction at this point, and the operand that they lead to.
  Expected<std::vector<IndexSum>> factors_here(const Reduction& r,
                                               const std::vector<LeafId>& windows);
  struct Place {
    Indices at;
    NodeId exists = kNone;  // kNone: always
  };
  Place operand_place(const Op& op, const IndexRule& rule, std::size_t operand,
                      const std::vector<IndexSum>& factors);

  // Where an update at this point goes: the index of the result, and whether there is such a one.
  struct Target {
    Indices from, to;
    NodeId exists = kNone;
  };
  Expected<Target> scatter_target(const Op& op);

  // The stage, with the loop innermost that suits its accesses best.
  Stage finish();

  NodeTable nodes;
  IndexSpace space;

 private:
  struct Access {
    IndexSum index;
    std::uint32_t buffer = 0;
    bool is_store = false;
    bool is_update = false;
    bool in_order = false;  // of an update that has to keep the order of its points
  };
  std::size_t innermost() const;
  bool keeps_order(std::size_t loop) const;
  bool is_ordered_by_data() const;
  std::vector<std::size_t> outer_order(std::size_t inner, bool free) const;
  IndexSpace::Step step_along(const IndexSum& index, std::size_t loop) const;
  std::size_t crossing(std::size_t inner) const;
  IndexSum in_block(LeafId leaf, std::int64_t block);
  Expected<LeafId> position(int axis);
  Expected<IndexSum> dim_here(ValueId value, std::size_t dim);
  Expected<NodeId> compute(const Op& op, const Indices& at, NodeId guard);
  NodeId load(std::uint32_t buffer, DType dtype, const IndexSum& index, NodeId guard);
  // Where an element lies among the rows that the block has of a value.
  Expected<IndexSum> index_in_rows(ValueId value, const Indices& at);
  std::vector<IndexSum> result_factors(const IndexRule& rule, const Indices& at,
                                       const Shape& shape);
  Expected<NodeId> copy(const Op& op, const Indices& at, NodeId guard);
  Expected<NodeId> part(const Op& op, const Indices& at, NodeId guard);
  // Where a part of a complex element lies among the parts of all.
  IndexSum part_index(const IndexSum& element, std::size_t part);
  Expected<NodeId> elementwise(const Op& op, const Indices& at, NodeId guard);
  Expected<NodeId> join(const Op& op, const Indices& at, NodeId guard);
  Expected<NodeId> iota(const Op& op, const Indices& at);
  Expected<NodeId> dynamic_slice(const Op& op, const Indices& at, NodeId guard);
  Expected<NodeId> dynamic_update_slice(const Op& op, const Indices& at, NodeId guard);
  Expected<NodeId> gather(const Op& op, const Indices& at, NodeId guard);
  Expected<NodeId> scatter_start(ValueId indices, const Indices& at);
  Expected<NodeId> single_update(const Op& op, const Indices& at, NodeId guard);
  Expected<NodeId> combined(const Op& op, NodeId there, NodeId comes);
  std::optional<std::int64_t> known_integer(NodeId node) const;
  Expected<IndexSum> start(ValueId value, const Indices& at, std::int64_t most, NodeId guard);
  NodeId choose(NodeId condition, NodeId yes, NodeId no);

  KernelWriter& kernel_;
  const Program& program_;
  const LoopPlan& loop_plan_;
  int level_;
  bool tail_;
  std::unordered_map<int, LeafId> axis_leaves_;
  std::vector<StageLoop> loops_;
  std::vector<LeafId> loop_leaves_;  // one per loop: the position that it moves
  std::size_t run_ = SIZE_MAX;       // the loop that open_run opened
  std::unordered_map<std::size_t, LeafId> block_leaves_;  // by loop: its position in a block
  LeafId row_ = 0, place_of_row_ = 0;                     // of open_rows
  std::vector<int> loop_axes_;  // one per loop: its axis, or -1 for a window
  std::vector<Access> accesses_;
  std::vector<Statement> statements_;
  std::map<std::tuple<ValueId, Indices, NodeId>, NodeId> known_;
};

// What an elementwise op computes, comparisons and casts included; none for all others.
ScalarOp scalar_op_of(const Program& program, const Op& op);

// How two values of a reduction's region become one.
Expected<Combiner> combiner_of(const Program& program, const Op& op, const IndexRule& rule);

}  // namespace heddle
