#include "parallel/joined.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "parallel/op_parts.h"

namespace heddle {

Slices find_slices(const Program& program, const std::vector<int>& uses) {
  Slices found;
  found.only_joined.assign(program.op_count(), false);
  std::vector<int> taken(program.value_count(), 0);
  for (RegionId region = 0; region < program.region_count(); ++region)
    for (OpId id : program.region(region).ops) {
      const Op& op = program.op(id);
      if (op.def->parts == Parts::cut)
        if (const OpId maker = program.value(program.operands(op)[0]).op;
            maker != kNone && program.op(maker).def->parts == Parts::sort)
          found.of_sort[program.operands(op)[0]].push_back(id);
      const int dim = joined_factor(program, op);
      if (dim < 0) continue;
      for (ValueId v : program.operands(op)) {
        const OpId maker = program.value(v).op;
        if (maker == kNone || program.layout_of(v) != nullptr ||
            !cuts_only(program, program.op(maker), static_cast<std::size_t>(dim)))
          continue;
        const auto& here = program.region(region).ops;
        // Ops stand in the order of their numbers.
        if (++taken[v] == uses[v] && std::ranges::binary_search(here, maker))
          found.only_joined[maker] = true;
      }
    }
  return found;
}

namespace {

std::vector<JoinedPart> parts_of(const Program& program, const Op& op, std::size_t dim,
                                 const Slices& slices) {
  std::vector<JoinedPart> parts;
  std::int64_t before = 0;
  for (ValueId v : program.operands(op)) {
    const std::int64_t count = program.type_of(v).shape[dim];
    const OpId maker = program.value(v).op;
    JoinedPart part{.source = v, .size = count, .from = 0, .to = before, .count = count};
    if (maker != kNone && slices.is_piece(maker)) {
      part.source = program.operands(program.op(maker))[0];
      part.size = program.type_of(part.source).shape[dim];
      part.from = integers_or(program.attr(program.op(maker), "start_indices"))[dim];
    }
    if (count > 0) parts.push_back(part);
    before += count;
  }
  return parts;
}

// Who sends which elements of a part to whom, where blocks of the result have `block` elements.
std::vector<JoinedPart::Delivery> deliveries(const JoinedPart& part, const SplitAxes& axes,
                                             std::int64_t block) {
  const std::int64_t have = (part.size + total(axes) - 1) / total(axes);
  std::vector<JoinedPart::Delivery> plan;
  for (std::int64_t done = 0; done < part.count;) {
    const std::int64_t from = part.from + done, to = part.to + done;
    const std::int64_t count =
        std::min({part.count - done, have - from % have, block - to % block});
    plan.push_back({from / have, to / block, done, count});
    done += count;
  }
  return plan;
}

}  // namespace

Window joined_place(const JoinedPart& part, std::size_t dim, const SplitAxes& axes,
                    std::int64_t block) {
  return {dim, axes, part.size, part.from - part.to, block, block, kNone, 1};
}

std::vector<JoinedPart> joined_parts(OnMesh& on, const Op& op, int resting, const Slices& slices,
                                     const Forms& forms) {
  const auto dim = static_cast<std::size_t>(joined_factor(on.program, op));
  const Split& rests = on.splits[resting];
  const SplitAxes axes = rests.dims.empty() ? SplitAxes{} : rests.dims[dim].axes();
  if (axes.empty() || !rests.dims[dim].is_block() || !rests.pending.empty()) return {};
  const std::int64_t size = on.type_of(on.program.result(op, 0)).shape[dim];
  const std::int64_t block = (size + total(axes) - 1) / total(axes);
  constexpr std::size_t kMostDeliveries = 3;
  std::vector<JoinedPart> parts = parts_of(on.program, op, dim, slices);
  for (JoinedPart& part : parts) {
    Split split = on.splits[resting];
    split.dims[dim] = DimSplit::blocks(part.size, axes);
    part.split = on.split_id(std::move(split));
    part.deliveries = deliveries(part, axes, block);
    const WindowReach reach = reach_of(joined_place(part, dim, axes, block));
    std::int64_t sent = 0;
    for (const JoinedPart::Delivery& run : part.deliveries)
      sent += run.from == run.to ? 0 : run.count;
    const bool few = part.deliveries.size() <= kMostDeliveries;
    if (reach.near && (!few || reach.low + reach.high <= sent)) part.deliveries.clear();
    if ((!reach.near && !few) || forms.of(part.source).empty() ||
        forms.seconds_to(part.source, part.split) != 0)
      return {};
  }
  return parts;
}

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

std::int64_t wanted_first(const Program& program, const Op& op, std::size_t dim,
                          const Slices& slices, const std::vector<int>& uses) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < op.result_count; ++i) {
    const ValueId v = program.result(op, i);
    const auto known = slices.of_sort.find(v);
    const auto count = known == slices.of_sort.end() ? 0 : std::ssize(known->second);
    if (count != uses[v]) return 0;
    for (std::ptrdiff_t k = 0; k < count; ++k) {
      const std::int64_t first =
          taken_first(program, program.op(known->second[static_cast<std::size_t>(k)]), dim);
      if (first == 0) return 0;
      most = std::max(most, first);
    }
  }
  return most;
}

}  // namespace heddle
