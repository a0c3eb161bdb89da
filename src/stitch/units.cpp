#include "stitch/units.h"

#include <algorithm>

#include "heddle/error.h"

namespace heddle {

namespace {

constexpr std::int64_t kGap = std::int64_t{1} << 32;  // between labels, at first
// Units that are this far apart are left alone, so that a question costs about the same in programs
// of all sizes.
constexpr std::size_t kMostBetween = 400;

}  // namespace

Units::Units(const Graph& graph, std::vector<Pattern> patterns)
    : graph_(graph), units_(std::move(patterns)), unit_of_(graph.size(), kNone) {
  for (UnitId u = 0; u < units_.size(); ++u)
    for (Vertex v : units_[u]) unit_of_[v] = u;
  for (Vertex v = 0; v < graph.size(); ++v)
    if (unit_of_[v] == kNone) {
      unit_of_[v] = static_cast<UnitId>(units_.size());
      units_.push_back({v});
    }
  number_units();
}

// ---- the first order

void Units::finish(UnitId u, std::vector<UnitId>& ready) {
  label_[u] = kGap * static_cast<Label>(order_.size() + 1);
  order_.emplace_hint(order_.end(), label_[u], u);
  for (Vertex v : units_[u])
    for (Vertex c : graph_.consumers[v]) {
      const UnitId next = unit_of_[c];
      if (waits_[next] > 0 && --waits_[next] == 0) ready.push_back(next);
    }
}

// Patterns may each be fine and yet wait for one another; the smallest one that could begin gives
// way.
void Units::take_one_apart(std::vector<UnitId>& ready) {
  UnitId chosen = kNone;
  for (Vertex v = 0; v < graph_.size(); ++v) {
    const UnitId u = unit_of_[v];
    if (label_[u] != 0 || (chosen != kNone && units_[u].size() >= units_[chosen].size())) continue;
    const bool could_begin = std::ranges::all_of(
        graph_.producers[v], [&](Vertex p) { return label_[unit_of_[p]] != 0; });
    if (could_begin) chosen = u;
  }
  HEDDLE_CHECK(chosen != kNone && units_[chosen].size() > 1, "units that wait for one another");
  const Pattern parts = std::move(units_[chosen]);
  units_[chosen].clear();
  for (Vertex v : parts) {
    unit_of_[v] = static_cast<UnitId>(units_.size());
    units_.push_back({v});
    label_.push_back(0);
    waits_.push_back(0);
  }
  for (Vertex v : parts) {
    const UnitId u = unit_of_[v];
    for (Vertex p : graph_.producers[v]) waits_[u] += label_[unit_of_[p]] == 0 ? 1 : 0;
    if (waits_[u] == 0) ready.push_back(u);
  }
}

void Units::number_units() {
  label_.assign(units_.size(), 0);
  waits_.assign(units_.size(), 0);
  for (Vertex v = 0; v < graph_.size(); ++v)
    for (Vertex p : graph_.producers[v])
      if (unit_of_[p] != unit_of_[v]) ++waits_[unit_of_[v]];
  std::vector<UnitId> ready;
  std::size_t empty = 0;
  for (UnitId u = static_cast<UnitId>(units_.size()); u-- > 0;)
    if (waits_[u] == 0) ready.push_back(u);
  while (order_.size() + empty < units_.size()) {
    if (ready.empty()) {
      take_one_apart(ready);
      ++empty;
      continue;
    }
    const UnitId u = ready.back();
    ready.pop_back();
    finish(u, ready);
  }
  below_.assign(units_.size(), 0);
  above_.assign(units_.size(), 0);
}

// ---- joining

// One step of a walk from unit to unit, between the two in question; true: it met the other one, or
// the other walk.
bool Units::walk(std::vector<UnitId>& open, std::vector<UnitId>& seen, bool down, UnitId target) {
  std::vector<std::uint32_t>& own = down ? below_ : above_;
  const std::vector<std::uint32_t>& other = down ? above_ : below_;
  const UnitId u = open.back();
  open.pop_back();
  for (Vertex v : units_[u])
    for (Vertex w : down ? graph_.consumers[v] : graph_.producers[v]) {
      const UnitId next = unit_of_[w];
      const bool first_step = u == low_ || u == high_;
      if (next == target && !first_step) return true;
      if (next == low_ || next == high_ || own[next] == question_) continue;
      if (label_[next] < label_[low_] || label_[next] > label_[high_]) continue;
      if (other[next] == question_) return true;
      own[next] = question_;
      open.push_back(next);
      seen.push_back(next);
    }
  return false;
}

bool Units::can_join(UnitId a, UnitId b) {
  low_ = label_[a] < label_[b] ? a : b;
  high_ = low_ == a ? b : a;
  ++question_;
  std::vector<UnitId> down = {low_}, up = {high_}, below, above;
  while (!down.empty() && !up.empty()) {
    if (walk(down, below, true, high_) || walk(up, above, false, low_)) return false;
    if (below.size() > kMostBetween && above.size() > kMostBetween) return false;
  }
  went_down_ = down.empty();
  between_ = went_down_ ? std::move(below) : std::move(above);
  return true;
}

void Units::relabel() {
  std::map<Label, UnitId> fresh;
  for (const auto& [label, u] : order_) {
    label_[u] = kGap * static_cast<Label>(fresh.size() + 1);
    fresh.emplace_hint(fresh.end(), label_[u], u);
  }
  order_ = std::move(fresh);
}

// Labels between two others, in the order given.
void Units::place(const std::vector<UnitId>& units, Label after, Label before) {
  const Label step = (before - after) / static_cast<Label>(units.size() + 1);
  for (std::size_t i = 0; i < units.size(); ++i) {
    label_[units[i]] = after + step * static_cast<Label>(i + 1);
    order_.emplace(label_[units[i]], units[i]);
  }
}

// What lies between the two and hangs on the lower one goes behind the higher one, which the union
// stands in for; or the other way round.
void Units::join(UnitId a, UnitId b) {
  HEDDLE_CHECK(std::min(a, b) == std::min(low_, high_) && std::max(a, b) == std::max(low_, high_));
  std::ranges::sort(between_, {}, [&](UnitId u) { return label_[u]; });
  const UnitId stays = went_down_ ? high_ : low_, goes = went_down_ ? low_ : high_;
  const auto room = [&] {
    const auto at = order_.find(label_[stays]);
    const auto next = std::next(at);
    const Label after = went_down_ ? at->first : at == order_.begin() ? 0 : std::prev(at)->first;
    const Label before = !went_down_            ? at->first
                         : next == order_.end() ? at->first + kGap * 2
                                                : next->first;
    return std::pair(after, before);
  };
  for (UnitId u : between_) order_.erase(label_[u]);
  order_.erase(label_[goes]);
  auto [after, before] = room();
  if (before - after <= static_cast<Label>(between_.size() + 1)) {
    relabel();
    std::tie(after, before) = room();
  }
  place(between_, after, before);
  const Label place_of_both = label_[stays];
  for (Vertex v : units_[b]) unit_of_[v] = a;
  units_[a] = union_of(units_[a], units_[b]);
  units_[b].clear();
  label_[a] = place_of_both;
  order_[place_of_both] = a;
}

void Units::move(Vertex v, UnitId to) {
  std::erase(units_[unit_of_[v]], v);
  units_[to] = union_of(units_[to], {v});
  unit_of_[v] = to;
}

}  // namespace heddle
