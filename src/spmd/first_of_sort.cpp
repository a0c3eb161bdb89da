// Sorts of which only the first elements are wanted, as by top_k: each device sorts its part, the
// first ones of all parts are gathered and sorted once more. No device has a whole line.
#include <algorithm>

#include "ir/attr_access.h"
#include "spmd/partitioner.h"

namespace heddle {

namespace {

// How many elements from the first on a slice takes of one dimension and all of the others; 0: it
// is another slice.
std::int64_t taken_first(const Program& program, const Op& slice, std::size_t dim) {
  if (!cuts_only(program, slice, dim)) return 0;
  return integers_or(program.attr(slice, "start_indices"))[dim] == 0
             ? program.type_of(program.result(slice, 0)).shape[dim]
             : 0;
}

}  // namespace

// The most elements that anybody takes of a sort's results; 0: somebody takes others too.
std::int64_t Partitioner::wanted_first(const Op& op, std::size_t dim) const {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = from_.result(op, i);
    const auto slices = slices_of_.find(v);
    const auto count = slices == slices_of_.end() ? 0 : std::ssize(slices->second);
    if (count != uses_[v]) return 0;
    for (std::ptrdiff_t k = 0; k < count; ++k) {
      const std::int64_t first =
          taken_first(from_, from_.op(slices->second[static_cast<std::size_t>(k)]), dim);
      if (first == 0) return 0;
      most = std::max(most, first);
    }
  }
  return most;
}

Expected<bool> Partitioner::write_first_of_sort(OpId id) {
  const Op& op = from_.op(id);
  const std::optional<Line> line = rules_.line(id);
  if (!line || line->kind != Line::Kind::sort) return false;
  const Split* given = split_for(op, 0);
  if (given == nullptr || !given->pending.empty() || given->dims[line->dim].whole() ||
      !given->dims[line->dim].is_block())
    return false;
  Split split = *given;
  SplitSort sort{.op = op, .dim = line->dim, .axes = split.dims[line->dim].axes()};
  sort.size = type_of(from_.result(op, 0)).shape[sort.dim];
  sort.lines = local_type(type_of(from_.result(op, 0)), split);
  sort.lines.dtype = place_type(sort.size);
  sort.block = sort.lines.shape[sort.dim];
  const std::int64_t first = wanted_first(op, sort.dim), parts = total(sort.axes);
  if (first == 0 || first > sort.block || 2 * first * parts > sort.size) return false;
  std::vector<ValueId> values;
  for (ValueId v : from_.operands(op)) values.push_back(get(v, split_id(split)));
  if (sort.uneven())
    values.push_back(
        w_.places(sort.lines, sort.dim, w_.multiply(w_.position(sort.axes), sort.block)));
  values = in_order(sort, std::move(values), false);
  for (ValueId& v : values) {
    v = w_.slice(v, sort.dim, 0, first);
    const Type type = w_.type(v);
    tell(MoveKind::all_gather, sort.axes, type, type.bytes() * (parts - 1),
         gather_seconds(static_cast<double>(type.bytes()), sort.axes));
    v = w_.all_gather(v, sort.dim, sort.axes);
  }
  // Parts come in their order, so that equal elements keep theirs.
  values = in_order(sort, std::move(values), false);
  for (std::size_t i = 0; i < op.result_count; ++i)
    for (OpId slice : slices_of_[from_.result(op, i)]) {
      const ValueId v = from_.result(from_.op(slice), 0);
      const std::int64_t count = type_of(v).shape[sort.dim];
      Split whole = split;
      whole.dims[sort.dim] = {count, {}};
      define(v, split_id(std::move(whole)), w_.slice(values[i], sort.dim, 0, count));
    }
  return true;
}

}  // namespace heddle
