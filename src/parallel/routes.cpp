// Splits by number, and the planner's ways between them.
#include <algorithm>

#include "cost/piece.h"
#include "heddle/price.h"
#include "parallel/messages.h"

namespace heddle {

int SplitTable::id(Split split) {
  split.settle();
  const std::uint64_t hash = split.hash();
  const auto [first, last] = ids_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if ((*this)[it->second] == split) return it->second;
  const int id = static_cast<int>(splits_.size());
  splits_.push_back(std::make_shared<const Split>(std::move(split)));
  ids_.emplace(hash, id);
  return id;
}

const Route& RouteTable::find(int from, int to, std::int64_t bits) {
  const Key key{from, to, bits};
  const auto it = routes_.find(key);
  return it != routes_.end() ? it->second
                             : routes_.emplace(key, planned(from, to, bits)).first->second;
}

namespace {

// A small sum along several axes, one after the other, is one sum: devices meet once.
void join_sums(Route& route, std::int64_t bytes, const Split& from, const Split& to) {
  constexpr std::int64_t kSmall = std::int64_t{1} << 16;
  const bool only_sums = std::ranges::all_of(
      route.steps, [](const Route::Step& step) { return step.kind == MoveKind::all_reduce; });
  if (route.steps.size() < 2 || !only_sums || bytes > kSmall) return;
  const std::int64_t members = total(from.pending) / total(to.pending);
  Route::Step joined = route.steps.back();
  joined.bytes = 2 * bytes * (members - 1) / members;
  joined.seconds = route.seconds;
  joined.over.clear();
  for (const Route::Step& step : route.steps)
    joined.over += (joined.over.empty() ? "" : ", ") + step.over;
  route.steps = {std::move(joined)};
}

}  // namespace

Route RouteTable::planned(int from, int to, std::int64_t bits) {
  if (from == to) return {};
  Route direct;
  direct.seconds = cost::kUnplanned;
  direct.steps.push_back({to, MoveKind::exchange, 0, cost::kUnplanned, ""});
  // Parts become contributions with zeros around them; nothing is sent.
  for (const DimSplit& dim : splits_[from].dims)
    for (const SplitDigit& d : dim.digits)
      if (overlap(splits_[to].pending, d)) return direct;
  const auto a = layout_of(splits_[from], mesh_, axes_.mem());
  const auto b = layout_of(splits_[to], mesh_, axes_.mem());
  if (!a || !b) return direct;
  auto plan = plan_redistribution(*a, *b, mesh_, axes_, {.element_bits = bits, .bound = false});
  if (!plan) return direct;
  const auto bytes_at = [&](int split) {
    std::int64_t elements = 1;
    for (const DimSplit& dim : splits_[split].dims) elements *= dim.local();
    return elements * bits / 8;
  };
  Route route;
  int at = from;
  for (Move& move : plan->moves) {
    std::int64_t members = 1;
    for (const SubAxis& part : move.over) members *= part.extent;
    if (const double timed =
            timed_seconds(mesh_, move.kind, members, static_cast<double>(bytes_at(at)));
        timed > 0)
      move.seconds = timed;
    route.seconds += move.seconds;
    auto split = split_of(move.to, mesh_);
    if (!split) return direct;
    std::string over;
    for (const SubAxis& part : move.over)
      if (const MeshAxis* axis = mesh_.find(part.axis))
        over += (over.empty() ? "" : ", ") + axis->name +
                (part.extent == axis->size
                     ? ""
                     : fmt::format(":({}){}", axis->size / part.extent / part.stride, part.extent));
    const int next = splits_.id(*std::move(split));
    if (next == at) continue;
    route.steps.push_back({next, move.kind, move.bytes, move.seconds, over});
    at = next;
  }
  if (at != to) return direct;
  plan->seconds = route.seconds;
  join_sums(route, bytes_at(from), splits_[from], splits_[to]);
  route.plan = std::make_shared<const Plan>(*std::move(plan));
  return route;
}

}  // namespace heddle
