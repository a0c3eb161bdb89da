// Where the updates of a scatter go.
#include <algorithm>

#include "kernel/stage_writer.h"
#include "stitch/scatter.h"

namespace heddle {

// A place that comes as data, whatever it is: those outside are dropped.
Expected<NodeId> StageWriter::scatter_start(ValueId indices, const Indices& at) {
  HEDDLE_TRY(NodeId node, value_at(indices, at));
  if (const auto known = known_integer(node)) return nodes.integer(*known);
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

// What the region makes of an element and its update.
Expected<NodeId> StageWriter::combined(const Op& op, NodeId there, NodeId comes) {
  const OpId id = program_.value(program_.result(op, 0)).op;
  HEDDLE_TRY(const Combiner combiner, combiner_of(program_, op, loop_plan_.rules.at(id)));
  if (combiner.op != ScalarOp::none)
    return nodes.scalar(combiner.op, nodes.type(there), there, comes);
  std::vector<NodeId> made;
  for (const Node& n : combiner.nodes) {
    std::array<NodeId, 3> in = {kNone, kNone, kNone};
    for (std::size_t i = 0; i < 3; ++i)
      if (n.in[i] != kNone) in[i] = made[n.in[i]];
    if (n.kind == NodeKind::parameter)
      made.push_back(n.number == 0 ? there : comes);
    else if (n.kind == NodeKind::constant)
      made.push_back(nodes.constant(n.type, n.bits));
    else
      made.push_back(nodes.scalar(n.op, n.type, in[0], in[1], in[2]));
  }
  return made[combiner.results[0]];
}

// An element of the result is the input's, or what its update makes of it where the one window
// covers it.
Expected<NodeId> StageWriter::single_update(const Op& op, const Indices& at, NodeId guard) {
  const ScatterDims dims = scatter_dimensions(program_, op);
  const auto operands = program_.operands(op);
  const Shape& window = program_.type_of(operands[2]).shape;
  const Shape& index_shape = program_.type_of(operands[1]).shape;
  Indices from(window.size(), IndexSpace::constant(0));
  NodeId inside = kNone;
  for (std::size_t d = 0; d < at.size(); ++d) {
    IndexSum along = at[d];
    std::int64_t size = 1;
    for (std::size_t u = 0; u < window.size(); ++u)
      if (dims.updates[u].input == static_cast<int>(d)) size = window[u];
    const auto component = std::ranges::find(dims.numbers.map, static_cast<std::int64_t>(d));
    NodeId start = nodes.integer(0);
    if (component != dims.numbers.map.end()) {
      Indices which(index_shape.size(), IndexSpace::constant(0));
      const auto vector = static_cast<std::size_t>(dims.numbers.vector);
      if (vector < which.size())
        which[vector] = IndexSpace::constant(component - dims.numbers.map.begin());
      HEDDLE_TRY(start, scatter_start(operands[1], which));
    }
    if (const auto known = known_integer(start)) {
      along = space.add(along, IndexSpace::constant(-*known));
      inside = nodes.both(inside, space.inside(along, size));
    } else {
      // It may be anything, so that no range is to be relied on.
      const NodeId place = nodes.scalar(ScalarOp::subtract, DType::i64, space.node(along), start);
      inside = nodes.both(
          inside, nodes.scalar(ScalarOp::greater_equal, DType::i1, place, nodes.integer(0)));
      inside =
          nodes.both(inside, nodes.scalar(ScalarOp::less, DType::i1, place, nodes.integer(size)));
      const LeafId leaf = space.leaf(start, program_.type_of(operands[0]).shape[d]);
      along = space.add(along, space.scaled(IndexSpace::of(leaf), -1));
    }
    for (std::size_t u = 0; u < window.size(); ++u)
      if (dims.updates[u].input == static_cast<int>(d)) from[u] = along;
  }
  HEDDLE_TRY(const NodeId comes, value_at(operands[2], from, nodes.both(guard, inside)));
  HEDDLE_TRY(const NodeId there, value_at(operands[0], at, guard));
  HEDDLE_TRY(const NodeId both, combined(op, there, comes));
  return choose(inside, both, there);
}

}  // namespace heddle
