#include "schedule/steps/slice_writer.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/replica_groups.h"
#include "ir/rules/scan.h"

namespace heddle {

namespace {

// The slice [0:n] of a dimension that is the only use of a value; kNone where there is none.
OpId crop_of(const Program& program, ValueId v, std::size_t dim,
             const std::vector<std::vector<OpId>>& users) {
  if (users[v].size() != 1) return kNone;
  const Op& op = program.op(users[v][0]);
  if (op.def->rearranges != Rearrange::slice) return kNone;
  const auto starts = integers_or(program.attr(op, "start_indices"));
  const auto strides = integers_or(program.attr(op, "strides"));
  const Shape &before = program.type_of(v).shape, &after = program.type_of(op.results).shape;
  for (std::size_t d = 0; d < before.size(); ++d)
    if (starts[d] != 0 || strides[d] != 1 || (d != dim && before[d] != after[d])) return kNone;
  return users[v][0];
}

}  // namespace

Expected<Gathered> gathered_by(const Program& program, OpId id,
                               const std::vector<std::vector<OpId>>& users) {
  const Op& op = program.op(id);
  const auto dim = gathered_dim(program, op);
  if (!dim) return reason("{} is no all_gather", op.def->short_name());
  if (op.operand_count != 1)
    return reason("it gathers {} values at once: reorder before it is fused", op.operand_count);
  Gathered found;
  found.op = id;
  HEDDLE_TRY(found.meeting, meeting_of(program, op));
  found.slice = program.operands(op)[0];
  found.whole = op.results;
  const std::int64_t block = program.type_of(found.slice).shape[*dim];
  const std::int64_t all = program.type_of(op.results).shape[*dim];
  const OpId crop = crop_of(program, op.results, *dim, users);
  const std::int64_t size =
      crop == kNone ? all : program.type_of(program.op(crop).results).shape[*dim];
  if (crop != kNone && size > 0) {
    found.crop = crop;
    found.whole = program.op(crop).results;
  }
  found.dim = {*dim, found.crop == kNone ? all : size, block};
  return found;
}

std::vector<ValueId> SliceWriter::operands_of(const Op& op) const {
  std::vector<ValueId> all(from_.operands(op).begin(), from_.operands(op).end());
  if (op.region_count > 0)
    for (ValueId v : captured_values(from_, op)) all.push_back(v);
  return all;
}

bool SliceWriter::is_gathered(ValueId v, const SlicedDim& dim, Gathered& found) const {
  OpId op = from_.value(v).op;
  if (op == kNone) return false;
  if (from_.op(op).def->rearranges == Rearrange::slice)
    op = from_.value(from_.operands(from_.op(op))[0]).op;
  if (op == kNone) return false;
  const auto gather = gathered_by(from_, op, users_);
  if (!gather || gather->whole != v || !(gather->dim == dim) || !(gather->meeting == meeting_))
    return false;
  found = *gather;
  return true;
}

Verdict SliceWriter::check_slice(ValueId v, const SlicedDim& dim) const {
  if (has(v)) {
    if (dim_of(v) == dim) return yes();
    return reason("it needs {} in slices of another dimension", value_text(from_, v));
  }
  Gathered other;
  if (is_gathered(v, dim, other) || differs_.is_same(v, meeting_.axes)) return yes();
  return reason("{} is local: it differs along {}, so that a slice of it is not what others have",
                value_text(from_, v), differs_.text(v, meeting_.axes));
}

Verdict SliceWriter::check(const Op& op, const OpSlices& slices, int apart) const {
  const std::vector<ValueId> operands = operands_of(op);
  const bool meets = op.def->cls == OpClass::communicate;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (static_cast<int>(i) == apart) continue;
    if (slices.operands[i]) {
      HEDDLE_TRY_VOID(check_slice(operands[i], *slices.operands[i]));
    } else if (has(operands[i])) {
      return reason("{}: it needs all of {}", op.def->short_name(), value_text(from_, operands[i]));
    } else if (!meets && !differs_.is_same(operands[i], meeting_.axes)) {
      return reason("{}: {} is local: it differs along {}", op.def->short_name(),
                    value_text(from_, operands[i]), differs_.text(operands[i], meeting_.axes));
    }
  }
  const IndexRule& rule = slices.rule;
  const bool uneven = rule.factors[slices.factor].size != slices.block * meeting_.members;
  if (slices.partial && uneven)
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (slices.operands[i] && rule.operands[i].outside != Outside::neutral &&
          rule.operands[i].outside != Outside::zero)
        return reason("{}: what lies beyond the end of uneven slices would count",
                      op.def->short_name());
  return yes();
}

// From what every device has, the part that is this one's; zeros beyond the end.
ValueId SliceWriter::cut(RegionId at, const Op& op, ValueId v, const SlicedDim& dim) {
  const ValueId position = edit_.position(at, op, meeting_.axes);
  Writer& w = edit_.writer(at, op);
  ValueId whole = edit_.now(v);
  const std::int64_t room = dim.block * meeting_.members - dim.size;
  if (room > 0) whole = w.pad(whole, dim.dim, 0, room, w.zero(w.type(whole).dtype));
  return w.dynamic_slice(whole, dim.dim, w.multiply(position, dim.block), dim.block);
}

// What repeats one value is repeated for the slice alone.
std::optional<ValueId> SliceWriter::broadcast_slice(RegionId at, const Op& op, ValueId v,
                                                    const SlicedDim& dim) {
  const OpId id = from_.value(v).op;
  if (id == kNone) return std::nullopt;
  const Op& maker = from_.op(id);
  Type part = from_.type_of(v);
  part.shape[dim.dim] = dim.block;
  Writer& w = edit_.writer(at, op);
  if (maker.def->rearranges == Rearrange::constant) {
    const Array& value = *from_.attr(maker, "value")->get<Array>();
    if (!value.is_splat()) return std::nullopt;
    return w.constant(Array::splat(part, value.element(0)));
  }
  if (maker.def->rearranges != Rearrange::broadcast || has(from_.operands(maker)[0]))
    return std::nullopt;
  const auto dims = integers_or(from_.attr(maker, "broadcast_dimensions"));
  if (std::ranges::find(dims, static_cast<std::int64_t>(dim.dim)) != dims.end())
    return std::nullopt;
  return w.op("stablehlo.broadcast_in_dim", {edit_.now(from_.operands(maker)[0])}, part,
              {{"broadcast_dimensions", integer_list(dims)}});
}

ValueId SliceWriter::take(RegionId at, const Op& op, ValueId v, const SlicedDim& dim) {
  if (has(v)) return slice_of(v);
  Gathered other;
  if (is_gathered(v, dim, other)) return edit_.now(other.slice);
  if (const auto repeated = broadcast_slice(at, op, v, dim)) return *repeated;
  return cut(at, op, v, dim);
}

// Of partial results only those of the first device start from what is given, and what lies beyond
// the end of uneven slices does not count.
void SliceWriter::neutralise(RegionId at, const Op& op, const OpSlices& slices,
                             std::vector<ValueId>& operands) {
  const IndexRule& rule = slices.rule;
  const ReduceOp kind = *rule.combine.op;
  const bool uneven = rule.factors[slices.factor].size != slices.block * meeting_.members;
  const ValueId position = edit_.position(at, op, meeting_.axes);
  Writer& w = edit_.writer(at, op);
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const Type type = w.type(operands[i]);
    const Type scalar = Type::tensor(type.dtype, {});
    if (rule.operands[i].starts_results && !is_neutral(from_, from_.operands(op)[i], kind)) {
      const ValueId first =
          w.over(w.compare(position, w.number(0), "EQ"), Type::tensor(DType::i1, type.shape));
      operands[i] =
          w.select(first, operands[i], w.over(w.constant(neutral_array(kind, scalar)), type));
    }
    if (!uneven || !slices.operands[i]) continue;
    const SlicedDim& dim = *slices.operands[i];
    const ValueId fill = rule.operands[i].outside == Outside::zero
                             ? w.zero(type.dtype)
                             : w.constant(neutral_array(kind, scalar));
    operands[i] = w.masked(operands[i], dim.dim, w.multiply(position, dim.block), dim.size, fill);
  }
}

Expected<std::vector<ValueId>> SliceWriter::write(RegionId at, const Op& op, const OpSlices& slices,
                                                  int apart, ValueId given) {
  const std::vector<ValueId> wanted = operands_of(op);
  std::vector<ValueId> operands;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (static_cast<int>(i) == apart)
      operands.push_back(given);
    else
      operands.push_back(slices.operands[i] ? take(at, op, wanted[i], *slices.operands[i])
                                            : edit_.now(wanted[i]));
  }
  if (slices.partial) neutralise(at, op, slices, operands);
  std::vector<FactorRange> ranges = all_ranges(slices.rule);
  ranges[slices.factor].size = slices.block;
  const ValueId position = edit_.position(at, op, meeting_.axes);
  std::vector<ValueId> begins(ranges.size(), kNone);
  begins[slices.factor] = edit_.writer(at, op).multiply(position, slices.block);
  auto results = emit_slice(edit_.out(), at, from_, op, slices.rule, ranges, operands, begins);
  edit_.locate(at, op);
  return results;
}

}  // namespace heddle
