// Values that have no partner go, and tables become smaller with them.
#include <algorithm>

#include "parallel/solver/reducer.h"

namespace heddle::solver {

bool Reducer::has_partner(const Side& side, int value) const {
  const int others = values(side.other);
  for (int y = 0; y < others; ++y)
    if (side.at(value, y) != kForbidden && allows(side.other, y)) return true;
  return false;
}

// Forbids the values of v that go with none of the pair's other variable.
bool Reducer::forbid_lonely(int pair, int v) {
  const Side own = side(pair, v);
  bool changed = false;
  for (int x = 0; x < values(v); ++x)
    if (allows(v, x) && !has_partner(own, x)) {
      model_.variables[v].costs[x] = kForbidden;
      changed = true;
    }
  return changed;
}

bool Reducer::restrict(int v) {
  for (const int pair : around_[v]) {
    if (is_new_[pair] == 0) continue;
    forbid_lonely(pair, v);
    const int other = side(pair, v).other;
    if (forbid_lonely(pair, other)) touch(other);
  }
  int allowed = 0;
  for (int x = 0; x < values(v); ++x) allowed += allows(v, x) ? 1 : 0;
  if (allowed > 0 && allowed < values(v)) compact(v);
  return allowed > 0;
}

// Only values that are allowed stay.
void Reducer::compact(int v) {
  std::vector<int> kept;
  for (int x = 0; x < values(v); ++x)
    if (allows(v, x)) kept.push_back(x);
  for (const int pair : around_[v]) compact_table(pair, v, kept), mark(pair);
  const auto pick = [&](auto& list) {
    for (std::size_t i = 0; i < kept.size(); ++i) list[i] = list[kept[i]];
    list.resize(kept.size());
  };
  pick(model_.variables[v].costs);
  pick(original_[v]);
  for (Piece& piece : model_.variables[v].pieces) pick(piece.amounts);
}

void Reducer::compact_table(int pair, int v, const std::vector<int>& kept) {
  const Side old = side(pair, v);
  const int others = values(old.other);
  const int rows = old.is_first ? static_cast<int>(kept.size()) : others;
  const int columns = old.is_first ? others : static_cast<int>(kept.size());
  std::vector<Cost> table;
  table.reserve(static_cast<std::size_t>(rows) * columns);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      table.push_back(old.is_first ? old.at(kept[r], c) : old.at(kept[c], r));
  model_.pairs[pair].table = std::move(table);
}

}  // namespace heddle::solver
