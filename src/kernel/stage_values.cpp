// Each kind of op at one point of its result.
#include <algorithm>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/eval/scalar_function.h"
#include "kernel/stage_writer.h"

namespace heddle {

namespace {

struct Direction {
  std::string_view word;
  ScalarOp op;
};
constexpr Direction kDirections[] = {
    {"EQ", ScalarOp::equal},      {"NE", ScalarOp::not_equal}, {"LT", ScalarOp::less},
    {"LE", ScalarOp::less_equal}, {"GT", ScalarOp::greater},   {"GE", ScalarOp::greater_equal},
};

bool contains(std::span<const std::int64_t> list, std::size_t d) {
  return std::find(list.begin(), list.end(), static_cast<std::int64_t>(d)) != list.end();
}

}  // namespace

ScalarOp scalar_op_of(const Program& program, const Op& op) {
  if (op.def->emission == Emission::bitcast) return ScalarOp::bitcast;
  if (op.def->emission != Emission::compare) return op.def->scalar;
  const std::string_view word = word_or(program.attr(op, "comparison_direction"), "");
  for (const Direction& d : kDirections)
    if (d.word == word) return d.op;
  return ScalarOp::none;
}

Expected<NodeId> StageWriter::compute(const Op& op, const Indices& at, NodeId guard) {
  switch (op.def->emission) {
    case Emission::scalar:
    case Emission::compare:
    case Emission::bitcast:
      return elementwise(op, at, guard);
    case Emission::real_part:
    case Emission::imaginary_part:
      return part(op, at, guard);
    case Emission::copy:
      return copy(op, at, guard);
    case Emission::iota:
      return iota(op, at);
    case Emission::join:
      return join(op, at, guard);
    case Emission::dynamic_slice:
      return dynamic_slice(op, at, guard);
    case Emission::dynamic_update_slice:
      return dynamic_update_slice(op, at, guard);
    case Emission::gather:
      return gather(op, at, guard);
    case Emission::scatter:
      return single_update(op, at, guard);
    default:
      return Reason{fmt::format("no kernel computes {}", op.def->name)};
  }
}

Expected<NodeId> StageWriter::elementwise(const Op& op, const Indices& at, NodeId guard) {
  std::array<NodeId, 3> in = {kNone, kNone, kNone};
  const auto operands = program_.operands(op);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool scalar = program_.type_of(operands[i]).rank() == 0;
    HEDDLE_TRY(in[i], value_at(operands[i], scalar ? Indices{} : at, guard));
  }
  const ScalarOp which = scalar_op_of(program_, op);
  const DType to = kernel_type(program_.type_of(program_.result(op, 0)).dtype);
  if (which == ScalarOp::bitcast && nodes.type(in[0]) == to) return in[0];
  return nodes.scalar(which, to, in[0], in[1], in[2]);
}

Expected<NodeId> StageWriter::part(const Op& op, const Indices& at, NodeId guard) {
  const ValueId whole = program_.operands(op)[0];
  const std::size_t which = op.def->emission == Emission::imaginary_part ? 1 : 0;
  const OpId maker = program_.value(whole).op;
  if (maker != kNone && kernel_.members.contains(maker))
    return value_at(program_.operands(program_.op(maker))[which], at, guard);
  const Type& type = program_.type_of(whole);
  return load(kernel_.buffer_of(whole), part_dtype(type.dtype),
              part_index(flat(type.shape, at), which), guard);
}

IndexSum StageWriter::part_index(const IndexSum& element, std::size_t part) {
  return space.add(space.scaled(element, 2), IndexSpace::constant(static_cast<std::int64_t>(part)));
}

// The values of the parallel factors, from the index of result 0.
std::vector<IndexSum> StageWriter::result_factors(const IndexRule& rule, const Indices& at,
                                                  const Shape& shape) {
  std::vector<IndexSum> values(rule.factors.size(), IndexSpace::constant(0));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const DimRule& dim = rule.results[0].dims[d];
    IndexSum rest = at[d];
    for (std::size_t i = dim.terms.size(); i-- > 0;) {
      const auto f = static_cast<std::size_t>(dim.terms[i].factor);
      const std::int64_t size = rule.factors[f].size;
      if (size == 1) continue;
      // What is above the major factor belongs to it.
      bool major = true;
      for (std::size_t k = 0; k < i; ++k)
        major &= rule.factors[static_cast<std::size_t>(dim.terms[k].factor)].size == 1;
      values[f] = major ? rest : space.remainder(rest, size);
      if (!major) rest = space.quotient(rest, size);
    }
  }
  return values;
}

StageWriter::Place StageWriter::operand_place(const Op& op, const IndexRule& rule,
                                              std::size_t operand,
                                              const std::vector<IndexSum>& factors) {
  Place place;
  const Shape& shape = program_.type_of(program_.operands(op)[operand]).shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const DimRule& dim = rule.operands[operand].dims[d];
    IndexSum at = IndexSpace::constant(dim.offset);
    for (const IndexTerm& term : dim.terms) {
      IndexSum value = factors[static_cast<std::size_t>(term.factor)];
      if (term.divide != 1) value = space.quotient(value, term.divide);
      if (term.modulo != 0) value = space.remainder(value, term.modulo);
      at = space.add(at, space.scaled(value, term.stride));
    }
    if (dim.dilation != 1) {
      place.exists = nodes.both(place.exists, space.inside(at, shape[d] * dim.dilation));
      place.exists = nodes.both(place.exists, space.multiple(at, dim.dilation));
      at = space.quotient(at, dim.dilation);
    } else {
      place.exists = nodes.both(place.exists, space.inside(at, shape[d]));
    }
    place.at.push_back(std::move(at));
  }
  return place;
}

Expected<NodeId> StageWriter::copy(const Op& op, const Indices& at, NodeId guard) {
  const ValueId from = program_.operands(op)[0];
  const Shape& shape = program_.type_of(program_.result(op, 0)).shape;
  const Shape& source = program_.type_of(from).shape;
  const IndexRule& rule = loop_plan_.rules.at(program_.value(program_.result(op, 0)).op);
  // Only a reshape has an index that is not made of factors: there the order of elements decides.
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && !is_plain(rule.results[0].dims[d], rule, shape[d]))
      return value_at(from, unflat(source, flat(shape, at)), guard);
  const Place place = operand_place(op, rule, 0, result_factors(rule, at, shape));
  // All but a pad have an element of the operand for every one of the result.
  if (rule.operands[0].outside != Outside::scalar) return value_at(from, place.at, guard);
  HEDDLE_TRY(const NodeId there, value_at(from, place.at, nodes.both(guard, place.exists)));
  if (place.exists == kNone) return there;
  const ValueId outside = program_.operands(op)[static_cast<std::size_t>(rule.operands[0].scalar)];
  HEDDLE_TRY(const NodeId other, value_at(outside, {}, guard));
  return choose(place.exists, there, other);
}

NodeId StageWriter::choose(NodeId condition, NodeId yes, NodeId no) {
  if (condition == kNone || yes == no) return yes;
  return nodes.scalar(ScalarOp::select, nodes.type(yes), condition, yes, no);
}

Expected<NodeId> StageWriter::iota(const Op& op, const Indices& at) {
  const auto d = static_cast<std::size_t>(integer_or(program_.attr(op, "iota_dimension"), 0));
  const DType type = program_.type_of(program_.result(op, 0)).dtype;
  const NodeId position = space.node(at[d]);
  return type == DType::i64 ? position : nodes.scalar(ScalarOp::convert, type, position);
}

Expected<NodeId> StageWriter::join(const Op& op, const Indices& at, NodeId guard) {
  const auto d = static_cast<std::size_t>(integer_or(program_.attr(op, "dimension"), 0));
  const auto operands = program_.operands(op);
  const IndexSpace::Range range = space.range(at[d]);
  NodeId result = kNone;
  std::int64_t end = program_.type_of(program_.result(op, 0)).shape[d];
  for (std::size_t i = operands.size(); i-- > 0;) {
    const std::int64_t size = program_.type_of(operands[i]).shape[d];
    const std::int64_t begin = end - size;
    end = begin;
    if (size == 0 || range.most < begin || range.least >= begin + size) continue;
    Indices there = at;
    there[d] = space.add(at[d], IndexSpace::constant(-begin));
    const NodeId inside = space.inside(there[d], size);
    HEDDLE_TRY(const NodeId part, value_at(operands[i], there, nodes.both(guard, inside)));
    result = result == kNone ? part : choose(inside, part, result);
  }
  // An index that lies nowhere: no guard holds here.
  if (result == kNone)
    return nodes.constant(kernel_type(program_.type_of(program_.result(op, 0)).dtype), 0);
  return result;
}

// The value of an integer that is known here.
std::optional<std::int64_t> StageWriter::known_integer(NodeId node) const {
  const Node& n = nodes.nodes()[node];
  if (n.kind != NodeKind::constant || !is_integer(n.type)) return {};
  const int unused = 64 - 8 * byte_size(n.type);
  if (n.type >= DType::ui2)
    return static_cast<std::int64_t>(std::min<std::uint64_t>(n.bits, INT64_MAX));
  return static_cast<std::int64_t>(n.bits << unused) >> unused;
}

// A place that comes as data: kept in [0, most].
Expected<IndexSum> StageWriter::start(ValueId value, const Indices& at, std::int64_t most,
                                      NodeId guard) {
  if (most <= 0) return IndexSpace::constant(0);
  HEDDLE_TRY(NodeId node, value_at(value, at, guard));
  if (const auto known = known_integer(node))
    return IndexSpace::constant(std::clamp<std::int64_t>(*known, 0, most));
  const DType type = nodes.type(node);
  if (type == DType::ui64) {
    // Large ones would turn negative.
    node = nodes.scalar(ScalarOp::minimum, type, node,
                        nodes.constant(type, static_cast<std::uint64_t>(most)));
  }
  if (type != DType::i64) node = nodes.scalar(ScalarOp::convert, DType::i64, node);
  node = nodes.scalar(ScalarOp::maximum, DType::i64, node, nodes.integer(0));
  node = nodes.scalar(ScalarOp::minimum, DType::i64, node, nodes.integer(most));
  return IndexSpace::of(space.leaf(node, most + 1));
}

Expected<NodeId> StageWriter::dynamic_slice(const Op& op, const Indices& at, NodeId guard) {
  const auto operands = program_.operands(op);
  const Shape& whole = program_.type_of(operands[0]).shape;
  const Shape& part = program_.type_of(program_.result(op, 0)).shape;
  Indices there;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    HEDDLE_TRY(const IndexSum begin, start(operands[d + 1], {}, whole[d] - part[d], guard));
    there.push_back(space.add(at[d], begin));
  }
  return value_at(operands[0], there, guard);
}

Expected<NodeId> StageWriter::dynamic_update_slice(const Op& op, const Indices& at, NodeId guard) {
  const auto operands = program_.operands(op);
  const Shape& whole = program_.type_of(operands[0]).shape;
  const Shape& part = program_.type_of(operands[1]).shape;
  Indices there;
  NodeId inside = kNone;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    HEDDLE_TRY(const IndexSum begin, start(operands[d + 2], {}, whole[d] - part[d], guard));
    there.push_back(space.add(at[d], space.scaled(begin, -1)));
    inside = nodes.both(inside, space.inside(there[d], part[d]));
  }
  HEDDLE_TRY(const NodeId fresh, value_at(operands[1], there, nodes.both(guard, inside)));
  if (inside == kNone) return fresh;
  HEDDLE_TRY(const NodeId old, value_at(operands[0], at, guard));
  return choose(inside, fresh, old);
}

Expected<NodeId> StageWriter::gather(const Op& op, const Indices& at, NodeId guard) {
  const OpAttrs attrs{program_, op};
  const std::string_view numbers = "dimension_numbers";
  HEDDLE_TRY(const auto offset_dims, attrs.field_integers(numbers, "offset_dims"));
  HEDDLE_TRY(const auto collapsed, attrs.field_integers(numbers, "collapsed_slice_dims"));
  HEDDLE_TRY(const auto batching, attrs.field_integers(numbers, "operand_batching_dims"));
  HEDDLE_TRY(const auto index_batching,
             attrs.field_integers(numbers, "start_indices_batching_dims"));
  HEDDLE_TRY(const auto map, attrs.field_integers(numbers, "start_index_map"));
  HEDDLE_TRY(const std::int64_t vector_dim, attrs.field_integer(numbers, "index_vector_dim", 0));
  HEDDLE_TRY(const auto sizes, attrs.integers("slice_sizes"));
  const auto operands = program_.operands(op);
  const Shape& whole = program_.type_of(operands[0]).shape;
  const Shape& index_shape = program_.type_of(operands[1]).shape;
  const std::size_t vector_at = static_cast<std::size_t>(vector_dim);
  Indices batch, offsets;
  for (std::size_t d = 0; d < at.size(); ++d)
    (contains(offset_dims, d) ? offsets : batch).push_back(at[d]);
  auto index_of = [&](std::int64_t component) {
    Indices full = batch;
    if (vector_at < index_shape.size())
      full.insert(full.begin() + vector_dim, IndexSpace::constant(component));
    return full;
  };
  Indices there(whole.size(), IndexSpace::constant(0));
  for (std::size_t k = 0; k < map.size(); ++k) {
    const auto d = static_cast<std::size_t>(map[k]);
    HEDDLE_TRY(const IndexSum begin, start(operands[1], index_of(static_cast<std::int64_t>(k)),
                                           whole[d] - sizes[d], guard));
    there[d] = space.add(there[d], begin);
  }
  for (std::size_t k = 0; k < batching.size(); ++k) {
    // Dimensions of the indices without the one that holds the components.
    auto from = static_cast<std::size_t>(index_batching[k]);
    if (from > vector_at) --from;
    auto& dim = there[static_cast<std::size_t>(batching[k])];
    dim = space.add(dim, batch[from]);
  }
  for (std::size_t d = 0, next = 0; d < whole.size(); ++d)
    if (!contains(collapsed, d) && !contains(batching, d))
      there[d] = space.add(there[d], offsets[next++]);
  return value_at(operands[0], there, guard);
}

}  // namespace heddle
