// Reductions, scans and scatters as statements of a stage.
#include <algorithm>

#include "heddle/op.h"
#include "kernel/group_lowering.h"

namespace heddle {

// Before a reduction its result holds the initial value; a part of one what changes nothing.
Verdict GroupLowering::begin_reductions(const Work& work, int level, Phase& phase) {
  std::map<AxisList, std::vector<const Reduction*>> by_axes;
  for (const Reduction* r : work.reductions) {
    if (!r->crosses) {
      by_axes[sorted(inner_axes(r->scans ? carry_axes(*r) : r->kept))].push_back(r);
      continue;
    }
    const Op& op = program_.op(r->op);
    const ValueId v = program_.result(op, 0);
    const Type& type = program_.type_of(v);
    HEDDLE_TRY(const Combiner combiner, combiner_of(program_, op, loop_plan_.rules.at(r->op)));
    StageWriter stage(writer_, level, true);
    const LeafId i = stage.open(type.elements());
    const LeafId c = stage.space.leaf(stage.nodes.chunk(), loop_plan_.chunks);
    const IndexSum at =
        stage.space.add(IndexSpace::of(i), stage.space.scaled(IndexSpace::of(c), type.elements()));
    stage.store(partial_.at(v), at,
                stage.nodes.constant(type.dtype, neutral_bits(combiner.op, type.dtype)));
    phase.begin.push_back(stage.finish());
  }
  for (const auto& [axes, reductions] : by_axes) {
    StageWriter stage(writer_, level, false);
    stage.open(axes);
    for (const Reduction* r : reductions) {
      const Op& op = program_.op(r->op);
      if (r->scans) {
        const ValueId v = program_.result(op, 0);
        HEDDLE_TRY(const IndexSum index, stage.local_index(carry_axes(*r)));
        HEDDLE_TRY(const NodeId first, stage.value_at(program_.operands(op)[1], {}));
        stage.store(carry_.at(v), index, first);
        continue;
      }
      for (std::size_t i = 0; i < op.result_count; ++i) {
        const ValueId v = program_.result(op, i);
        HEDDLE_TRY(const Indices at, stage.here(v));
        HEDDLE_TRY(const Room room, room_of(stage, v, at));
        HEDDLE_TRY(const NodeId first, first_value(stage, op, i, at));
        stage.store(room.buffer, room.index, first);
      }
    }
    phase.stages.push_back(stage.finish());
  }
  return yes();
}

// Where the elements of a reduction's result are kept while it runs.
Expected<GroupLowering::Room> GroupLowering::room_of(StageWriter& stage, ValueId v,
                                                     const Indices& at) {
  Room room;
  if (stores_itself(v)) {
    room = {writer_.buffer_of(v), stage.flat(program_.type_of(v).shape, at)};
  } else {
    HEDDLE_TRY(room.index, stage.kept_index(v, at));
    room.buffer = writer_.kept.at(v);
  }
  return room;
}

// What result i of a reduction holds before anything was reduced.
Expected<NodeId> GroupLowering::first_value(StageWriter& stage, const Op& op, std::size_t i,
                                            const Indices& at) {
  const auto operands = program_.operands(op);
  if (op.def->emission == Emission::contract)
    return stage.nodes.constant(program_.type_of(program_.result(op, i)).dtype, 0);
  if (op.def->emission == Emission::scatter) return stage.value_at(operands[i], at);
  return stage.value_at(operands[op.result_count + i], {});
}

// Every step of a scan is a result: kept, or stored where it belongs.
Verdict GroupLowering::write_scan(StageWriter& stage, const Reduction& r) {
  const Op& op = program_.op(r.op);
  const ValueId result = program_.result(op, 0);
  const Shape& shape = program_.type_of(result).shape;
  HEDDLE_TRY(Indices at, stage.here(result));
  if (r.backward)
    at[r.scan_dim] = stage.space.add(stage.space.scaled(at[r.scan_dim], -1),
                                     IndexSpace::constant(shape[r.scan_dim] - 1));
  HEDDLE_TRY(const NodeId value, stage.value_at(program_.operands(op)[0], at));
  HEDDLE_TRY(Combiner combiner, combiner_of(program_, op, loop_plan_.rules.at(r.op)));
  HEDDLE_TRY(const IndexSum carry, stage.local_index(carry_axes(r)));
  const bool is_kept = loop_plan_.kept.contains(result);
  IndexSum to;
  if (is_kept) {
    HEDDLE_TRY(to, stage.kept_index(result, at));
  } else {
    to = stage.flat(shape, at);
  }
  stage.scan(carry_.at(result), carry, value,
             is_kept ? writer_.kept.at(result) : writer_.buffer_of(result), to,
             std::move(combiner));
  return yes();
}

Verdict GroupLowering::write_reduction(StageWriter& stage, const Reduction& r,
                                       const std::vector<LeafId>& windows) {
  if (r.scans) return write_scan(stage, r);
  if (r.scatters) return write_scatter(stage, r);
  const Op& op = program_.op(r.op);
  const IndexRule& rule = loop_plan_.rules.at(r.op);
  HEDDLE_TRY(const std::vector<IndexSum> factors, stage.factors_here(r, windows));
  const auto operands = program_.operands(op);
  const ValueId result = program_.result(op, 0);
  std::vector<NodeId> values;
  NodeId guard = kNone;
  const std::size_t inputs = op.def->emission == Emission::contract ? 2 : op.result_count;
  for (std::size_t i = 0; i < inputs; ++i) {
    const StageWriter::Place place = stage.operand_place(op, rule, i, factors);
    guard = stage.nodes.both(guard, place.exists);
    HEDDLE_TRY(const NodeId value, stage.value_at(operands[i], place.at, place.exists));
    values.push_back(value);
  }
  if (op.def->emission == Emission::contract) {
    const DType type = program_.type_of(result).dtype;
    for (NodeId& v : values)
      if (stage.nodes.type(v) != type) v = stage.nodes.scalar(ScalarOp::convert, type, v);
    values = {stage.nodes.scalar(ScalarOp::multiply, type, values[0], values[1])};
  }
  HEDDLE_TRY(const Indices at, stage.here(result));
  return write_update(stage, r, at, values, guard);
}

Verdict GroupLowering::write_scatter(StageWriter& stage, const Reduction& r) {
  const Op& op = program_.op(r.op);
  HEDDLE_TRY(const StageWriter::Target target, stage.scatter_target(op));
  std::vector<NodeId> values;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId updates = program_.operands(op)[op.result_count + 1 + i];
    HEDDLE_TRY(const NodeId value, stage.value_at(updates, target.from));
    values.push_back(value);
  }
  return write_update(stage, r, target.to, values, target.exists);
}

// Puts values to what the result holds at an index: of the block, or of the chunk.
Verdict GroupLowering::write_update(StageWriter& stage, const Reduction& r, const Indices& at,
                                    const std::vector<NodeId>& values, NodeId guard) {
  const Op& op = program_.op(r.op);
  const ValueId result = program_.result(op, 0);
  HEDDLE_TRY(Combiner combiner, combiner_of(program_, op, loop_plan_.rules.at(r.op)));
  std::vector<std::uint32_t> buffers;
  IndexSum index;
  if (r.crosses) {
    const Type& type = program_.type_of(result);
    const LeafId c = stage.space.leaf(stage.nodes.chunk(), loop_plan_.chunks);
    index = stage.space.add(stage.flat(type.shape, at),
                            stage.space.scaled(IndexSpace::of(c), type.elements()));
    buffers = {partial_.at(result)};
  } else {
    for (std::size_t i = 0; i < op.result_count; ++i) {
      HEDDLE_TRY(Room room, room_of(stage, program_.result(op, i), at));
      buffers.push_back(room.buffer);
      index = std::move(room.index);
    }
  }
  // Updates that all meet at places known ahead are no sum to be taken in any order: the reference
  // adds them one after the other.
  const bool in_order = r.scatters && stage.is_known(index);
  stage.update(buffers, index, values, guard, std::move(combiner), in_order);
  return yes();
}

Expected<std::vector<IndexSum>> StageWriter::factors_here(const Reduction& r,
                                                          const std::vector<LeafId>& windows) {
  const Op& op = program_.op(r.op);
  const IndexRule& rule = loop_plan_.rules.at(r.op);
  const ValueId result = program_.result(op, 0);
  HEDDLE_TRY(const Indices at, here(result));
  std::vector<IndexSum> factors = result_factors(rule, at, program_.type_of(result).shape);
  for (std::size_t w = 0; w < r.windows.size(); ++w)
    factors[static_cast<std::size_t>(r.windows[w])] = IndexSpace::of(windows[w]);
  for (const Reduction::Place& place : r.places) {
    HEDDLE_TRY(factors[static_cast<std::size_t>(place.factor)],
               dim_here(program_.operands(op)[place.operand], place.dim));
  }
  return factors;
}

}  // namespace heddle
