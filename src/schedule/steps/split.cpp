#include "schedule/steps/split.h"

#include <algorithm>

#include "heddle/op.h"
#include "schedule/steps/meeting.h"
#include "schedule/steps/write_collectives.h"

namespace heddle {

namespace {

// The first dimension that is a multiple of the group, else the largest one.
std::size_t dim_to_scatter(const Shape& shape, std::int64_t members) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 0 && shape[d] % members == 0) return d;
  return static_cast<std::size_t>(std::ranges::max_element(shape) - shape.begin());
}

Verdict check_split(const Program& program, const Op& op, const SplitHow& how) {
  if (op.def->collective != CollectiveKind::all_reduce || op.region_count != 1)
    return reason("{} is no all_reduce", op.def->short_name());
  if (op.operand_count != 1)
    return reason("it sums {} values at once: split it before it is fused", op.operand_count);
  const Type& type = program.type_of(op.results);
  if (program.type_of(program.operands(op)[0]).dtype != type.dtype)
    return reason("it sums in another element type than it takes");
  if (how.to_one) return yes();
  if (type.rank() == 0) return reason("it is one number, of which no device could have a part");
  if (type.elements() == 0) return reason("it has no elements");
  if (how.dim && *how.dim >= type.rank())
    return reason("it has no dimension {}: its type is {}", *how.dim, type.str());
  return yes();
}

}  // namespace

Expected<Rewritten> split(const Program& program, OpId all_reduce, const SplitHow& how) {
  const Op& op = program.op(all_reduce);
  HEDDLE_TRY_VOID(check_split(program, op, how));
  HEDDLE_TRY(const Meeting meeting, meeting_of(program, op));
  const std::int64_t members = meeting.members;
  Edit edit(program, meeting.mesh);
  std::vector<ValueId> made;
  std::string said;
  edit.replace(all_reduce, [&](RegionId at, const Op& whole) {
    const ValueId v = edit.now(program.operands(whole)[0]);
    const Type& type = program.type_of(whole.results);
    if (how.to_one) {
      made = {write_reduce(edit, at, whole, v)};
      made.push_back(write_broadcast(edit, at, whole, made[0]));
      edit.define(whole.results, made[1]);
      said = "reduce and broadcast " + over_text(program, meeting);
      return yes();
    }
    const std::size_t dim = how.dim.value_or(dim_to_scatter(type.shape, members));
    const std::int64_t size = type.shape[dim], block = (size + members - 1) / members;
    Writer& w = edit.writer(at, whole);
    const ValueId padded =
        block * members == size ? v : w.pad(v, dim, 0, block * members - size, w.zero(type.dtype));
    made = {write_reduce_scatter(edit, at, whole, padded, dim, members)};
    made.push_back(write_all_gather(edit, at, whole, made[0], dim, members));
    edit.define(whole.results, edit.writer(at, whole).slice(made[1], dim, 0, size));
    said = fmt::format("reduce_scatter and all_gather {}, {} of {} rows of dimension {} each",
                       over_text(program, meeting), block, size, dim);
    return yes();
  });
  HEDDLE_TRY(Rewritten all, edit.done());
  all.made = std::move(made);
  all.said = {std::move(said)};
  return all;
}

}  // namespace heddle
