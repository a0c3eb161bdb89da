// Values that neither cost nor take less than another one go.
#include <algorithm>

#include "parallel/solver/reducer.h"

namespace heddle::solver {
namespace {

constexpr std::size_t kMostCompared = 1 << 24;  // costs that are compared to drop values of one
constexpr int kComparisons = 64;  // variables after which it looks whether it has to stop

}  // namespace

ComparedRows Reducer::rows_of(int v) const {
  ComparedRows rows(values(v));
  for (const int pair : around_[v]) {
    const Side own = side(pair, v);
    const auto width = static_cast<std::size_t>(values(own.other));
    std::vector<Cost> costs;
    costs.reserve(width * static_cast<std::size_t>(values(v)));
    for (int x = 0; x < values(v); ++x)
      for (int y = 0; y < values(own.other); ++y) costs.push_back(own.at(x, y));
    rows.add_neighbour(width, std::move(costs));
  }
  return rows;
}

// Whether `other` never costs more and never takes more.
bool Reducer::is_worse(int v, int value, int other, const ComparedRows& rows) const {
  for (const Piece& piece : model_.variables[v].pieces)
    if (piece.amounts[other] > piece.amounts[value]) return false;
  const std::vector<Cost>& costs = model_.variables[v].costs;
  return rows.is_worse(value, other, costs[other] - costs[value]);
}

void Reducer::dominate(int v) {
  std::size_t work = 0;
  for (const int pair : around_[v]) work += values(side(pair, v).other);
  if (work * values(v) * values(v) > kMostCompared) return;
  bool changed = false;
  const ComparedRows rows = rows_of(v);
  for (int x = 0; x < values(v); ++x)
    for (int y = 0; y < values(v); ++y)
      if (x != y && allows(v, x) && allows(v, y) && is_worse(v, x, y, rows)) {
        model_.variables[v].costs[x] = kForbidden;
        changed = true;
      }
  if (!changed) return;
  compact(v);
  touch(v);
}

void Reducer::dominate_all() {
  for (int v = 0; v < static_cast<int>(model_.variables.size()); ++v) {
    if (gone_[v] != 0 || changed_[v] == 0) continue;
    if (v % kComparisons == 0 && stop_()) return;
    changed_[v] = 0;
    forget_dropped(v);
    dominate(v);
  }
}

}  // namespace heddle::solver
