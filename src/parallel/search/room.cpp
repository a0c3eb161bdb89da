#include "parallel/search/room.h"

#include <algorithm>

#include "base/text.h"
#include "heddle/op.h"

namespace heddle::search {

namespace {

std::string bytes_text(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace

std::string name_of(const Cells& cells, const Held& held, const Program& program) {
  const Cell& cell = cells.cells[static_cast<std::size_t>(held.cell)];
  const OpId maker = cell.op != kNone ? cell.op : program.value(cell.value).op;
  const std::string type = program.type(held.type).str();
  if (maker == kNone) return type + " of an argument";
  const Op& op = program.op(maker);
  return fmt::format("{} of {} at {}", type, op.def->short_name(), program.where(op.loc));
}

Verdict has_room(const Cells& cells, SplitLists& lists, const Program& program,
                 std::int64_t limit) {
  if (limit == INT64_MAX) return yes();
  auto least = [&](const Held& held) {
    return *std::ranges::min_element(lists.bytes(held.list, held.type));
  };
  const std::vector<std::int64_t> held_then = held_over_time(cells, least);
  const auto fullest = std::ranges::max_element(held_then);
  const std::int64_t most = *fullest, when = fullest - held_then.begin();
  if (most <= limit) return yes();
  std::vector<std::pair<std::int64_t, const Held*>> there;
  for (const Held& held : cells.held)
    if (held.begin <= when && when < held.end) there.emplace_back(least(held), &held);
  std::ranges::stable_sort(there, std::ranges::greater(),
                           [](const auto& one) { return one.first; });
  constexpr std::size_t kMostNamed = 3;
  std::string largest;
  for (std::size_t i = 0; i < there.size() && i < kMostNamed; ++i)
    largest += fmt::format("\n  {} of {}", bytes_text(there[i].first),
                           name_of(cells, *there[i].second, program));
  return reason(
      "no plan takes less than {} of a device as a search counts, and {} are there: give it more "
      "memory, more devices, or a smaller batch. At its fullest it holds {}, each split as far as "
      "it can be; the largest "
      "are{}",
      bytes_text(most), bytes_text(limit), counted(there.size(), "value"), largest);
}

}  // namespace heddle::search
