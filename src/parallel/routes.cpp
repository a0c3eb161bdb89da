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

namespace {

double bytes_at(const Split& split, std::int64_t bits) {
  std::int64_t elements = 1;
  for (const DimSplit& dim : split.dims) elements *= dim.local();
  const std::int64_t bytes = elements * bits / 8;
  return static_cast<double>(bytes);
}

// Where parts become contributions with zeros around them nothing is sent.
bool becomes_a_sum(const Split& from, const Split& to) {
  return std::ranges::any_of(from.dims, [&](const DimSplit& dim) {
    return std::ranges::any_of(dim.digits,
                               [&](const SplitDigit& d) { return overlap(to.pending, d); });
  });
}

std::string over_text(const Move& move, const Mesh& mesh) {
  std::string over;
  for (const SubAxis& part : move.over)
    if (const MeshAxis* axis = mesh.find(part.axis))
      over += (over.empty() ? "" : ", ") + axis->name +
              (part.extent == axis->size
                   ? ""
                   : fmt::format(":({}){}", axis->size / part.extent / part.stride, part.extent));
  return over;
}

}  // namespace

// With what was timed of its moves.
std::optional<RouteTable::Planned> RouteTable::plan_between(const Split& from, const Split& to,
                                                            std::int64_t bits) const {
  if (becomes_a_sum(from, to)) return std::nullopt;
  const auto a = layout_of(from, mesh_, axes_.mem()), b = layout_of(to, mesh_, axes_.mem());
  if (!a || !b) return std::nullopt;
  auto plan = plan_redistribution(*a, *b, mesh_, axes_, {.element_bits = bits, .bound = false});
  if (!plan) return std::nullopt;
  Planned planned{*std::move(plan), {}};
  const Split* at = &from;
  planned.stops.reserve(planned.plan.moves.size());
  planned.plan.seconds = 0;
  for (Move& move : planned.plan.moves) {
    std::int64_t members = 1;
    for (const SubAxis& part : move.over) members *= part.extent;
    if (const double timed = timed_seconds(mesh_, move.kind, members, bytes_at(*at, bits));
        timed > 0)
      move.seconds = timed;
    planned.plan.seconds += move.seconds;
    auto split = split_of(move.to, mesh_);
    if (!split) return std::nullopt;
    at = &planned.stops.emplace_back(*std::move(split));
  }
  if (*at != to) return std::nullopt;
  return planned;
}

double RouteTable::seconds(const Split& from, const Split& to, std::int64_t bits) const {
  if (from == to) return 0;
  const auto way = plan_between(from, to, bits);
  return way ? way->plan.seconds : cost::kUnplanned;
}

Route RouteTable::planned(int from, int to, std::int64_t bits) {
  if (from == to) return {};
  auto way = plan_between(splits_[from], splits_[to], bits);
  Route route;
  if (!way) {
    route.seconds = cost::kUnplanned;
    route.steps.push_back({to, MoveKind::exchange, 0, cost::kUnplanned, ""});
    return route;
  }
  route.seconds = way->plan.seconds;
  int at = from;
  for (std::size_t i = 0; i < way->stops.size(); ++i) {
    const Move& move = way->plan.moves[i];
    const int next = splits_.id(std::move(way->stops[i]));
    if (next == at) continue;
    route.steps.push_back({next, move.kind, move.bytes, move.seconds, over_text(move, mesh_)});
    at = next;
  }
  join_sums(route, static_cast<std::int64_t>(bytes_at(splits_[from], bits)), splits_[from],
            splits_[to]);
  route.plan = std::make_shared<const Plan>(std::move(way->plan));
  return route;
}

}  // namespace heddle
