#include "parallel/shifted.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/clone.h"
#include "ir/rules/rule_builder.h"

namespace heddle {

namespace {

constexpr int kMostDepth = 40;

bool all_are(const std::vector<std::int64_t>& list, std::int64_t value) {
  return std::ranges::all_of(list, [&](std::int64_t n) { return n == value; });
}

const Op* maker(const Program& program, ValueId v) {
  const OpId id = program.value(v).op;
  return id == kNone ? nullptr : &program.op(id);
}

// One scalar in all places.
std::optional<ValueId> broadcast_scalar(const Program& program, const Op& op) {
  if (op.def->rearranges != Rearrange::broadcast) return std::nullopt;
  const ValueId scalar = program.operands(op)[0];
  return program.type_of(scalar).rank() == 0 ? std::optional(scalar) : std::nullopt;
}

const Array* splat_constant(const Program& program, const Op& op) {
  if (op.def->form != Form::constant) return nullptr;
  const Attr* value = program.attr(op, "value");
  const Array* array = value == nullptr ? nullptr : value->get<Array>();
  return array != nullptr && array->is_splat() && array->elements() > 0 ? array : nullptr;
}

}  // namespace

std::optional<Shifted> shifted_slice(const Program& program, ValueId v) {
  const Op* op = maker(program, v);
  if (op == nullptr || op->def->rearranges != Rearrange::slice) return std::nullopt;
  Shifted found{program.operands(*op)[0], integers_or(program.attr(*op, "start_indices")), kNone};
  if (!all_are(integers_or(program.attr(*op, "strides")), 1)) return std::nullopt;
  for (std::int64_t& n : found.low) n = -n;
  const Op* padded = maker(program, found.source);
  if (padded == nullptr || padded->def->rearranges != Rearrange::pad ||
      program.layout_of(found.source) != nullptr ||
      !all_are(integers_or(program.attr(*padded, "interior_padding")), 0))
    return found;
  const auto low = integers_or(program.attr(*padded, "edge_padding_low"));
  for (std::size_t d = 0; d < found.low.size(); ++d) found.low[d] += low[d];
  found.source = program.operands(*padded)[0];
  found.fill = program.operands(*padded)[1];
  return found;
}

Var write_shifted(Rewriter& rewriter, const Shifted& what, const Shape& shape) {
  Builder& b = rewriter.to;
  const Var source = rewriter.value(what.source);
  const Type type = source.type();
  if (type.shape == shape && all_are(what.low, 0)) return source;
  Attr::Integers high;
  for (std::size_t d = 0; d < shape.size(); ++d)
    high.push_back(shape[d] - type.shape[d] - what.low[d]);
  const Var fill = what.fill == kNone ? b.constant(Array(Type::tensor(type.dtype, {})))
                                      : rewriter.value(what.fill);
  return b.op("pad", {source, fill}, Type::tensor(type.dtype, shape),
              {{"edge_padding_high", Attr{high}},
               {"edge_padding_low", Attr{Attr::Integers(what.low)}},
               {"interior_padding", Attr{Attr::Integers(shape.size(), 0)}}});
}

// ---- values on a larger shape

bool Spread::computes(ValueId v) const {
  const Op* op = maker(rewriter_.from, v);
  if (op == nullptr || op->def->index_rule != elementwise_index_rule || op->region_count > 0 ||
      op->result_count != 1 || op->operand_count == 0 || op->def->cls == OpClass::communicate ||
      op->def->cls == OpClass::opaque)
    return false;
  return uses_[v] == 1 && rewriter_.from.layout_of(v) == nullptr;
}

// Whether something that it is made of is a slice.
bool Spread::worth(ValueId v, int depth) const {
  if (depth > kMostDepth) return false;
  if (shifted_slice(rewriter_.from, v)) return true;
  if (!computes(v)) return false;
  return std::ranges::any_of(rewriter_.from.operands(*maker(rewriter_.from, v)),
                             [&](ValueId operand) { return worth(operand, depth + 1); });
}

Var Spread::of(ValueId v) { return worth(v, 0) ? write(v) : moved(v); }

Var Spread::moved(ValueId v) { return write_shifted(rewriter_, {v, begin_, kNone}, shape_); }

Var Spread::write(ValueId v) {
  const Program& from = rewriter_.from;
  if (from.type_of(v).rank() == 0) return rewriter_.value(v);
  if (auto slice = shifted_slice(from, v)) {
    for (std::size_t d = 0; d < begin_.size(); ++d) slice->low[d] += begin_[d];
    return write_shifted(rewriter_, *slice, shape_);
  }
  const Op* op = maker(from, v);
  if (op == nullptr) return moved(v);
  if (const auto scalar = broadcast_scalar(from, *op))
    return rewriter_.to.broadcast(rewriter_.value(*scalar), shape_);
  if (const Array* value = splat_constant(from, *op))
    return rewriter_.to.constant(
        Array::splat(Type::tensor(value->type().dtype, shape_), value->element(0)));
  if (!computes(v)) return moved(v);
  Vars operands;
  for (ValueId operand : from.operands(*op)) operands.push_back(write(operand));
  const Type type = Type::tensor(from.type_of(v).dtype, shape_);
  return rewriter_.to.ops(op->def->name, operands, {type}, copied_attrs(from, *op))[0];
}

}  // namespace heddle
