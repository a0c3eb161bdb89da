// Where the updates of a scatter go.
#include "kernel/stage_writer.h"
#include "stitch/scatter.h"

namespace heddle {

// A place that comes as data, whatever it is: those outside are dropped.
Expected<NodeId> StageWriter::scatter_start(ValueId indices, const Indices& at) {
  HEDDLE_TRY(NodeId node, value_at(indices, at));
  const DType type = nodes.type(node);
  if (type == DType::ui64) {
    // Large ones would turn negative, and then windows could reach in.
    node = nodes.scalar(ScalarOp::minimum, type, node, nodes.constant(type, INT64_MAX));
  }
  return type == DType::i64 ? node : nodes.scalar(ScalarOp::convert, DType::i64, node);
}

Expected<StageWriter::Target> StageWriter::scatter_target(const Op& op) {
  const ScatterDims dims = scatter_dimensions(program_, op);
  const auto operands = program_.operands(op);
  const ValueId indices = operands[dims.inputs], updates = operands[dims.inputs + 1];
  const Shape& shape = program_.type_of(operands[0]).shape;
  const Shape& index_shape = program_.type_of(indices).shape;
  Target target;
  HEDDLE_TRY(target.from, here(updates));
  target.to.assign(shape.size(), IndexSpace::constant(0));
  Indices at(index_shape.size(), IndexSpace::constant(0));
  for (std::size_t u = 0; u < dims.updates.size(); ++u) {
    const ScatterDims::Update& update = dims.updates[u];
    if (update.index >= 0) at[static_cast<std::size_t>(update.index)] = target.from[u];
    if (update.input >= 0) target.to[static_cast<std::size_t>(update.input)] = target.from[u];
  }
  const auto vector = static_cast<std::size_t>(dims.numbers.vector);
  for (std::size_t k = 0; k < dims.numbers.map.size(); ++k) {
    const auto d = static_cast<std::size_t>(dims.numbers.map[k]);
    if (vector < at.size()) at[vector] = IndexSpace::constant(static_cast<std::int64_t>(k));
    HEDDLE_TRY(const NodeId start, scatter_start(indices, at));
    const IndexSum along = target.to[d];
    NodeId place = start;
    if (along != IndexSpace::constant(0))
      place = nodes.scalar(ScalarOp::add, DType::i64, start, space.node(along));
    const NodeId low = nodes.scalar(ScalarOp::greater_equal, DType::i1, place, nodes.integer(0));
    const NodeId high = nodes.scalar(ScalarOp::less, DType::i1, place, nodes.integer(shape[d]));
    target.exists = nodes.both(target.exists, nodes.both(low, high));
    target.to[d] = space.add(along, IndexSpace::of(space.leaf(start, shape[d])));
  }
  return target;
}

}  // namespace heddle
