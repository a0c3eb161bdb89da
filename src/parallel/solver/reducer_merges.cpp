// Two variables of which one says what the other is become one.
#include <algorithm>

#include "parallel/solver/reducer.h"

namespace heddle::solver {
namespace {

constexpr std::size_t kMostMerged = 1 << 16;  // entries of a table that a merge makes

}  // namespace

std::vector<int> Reducer::function_of(int pair, int v) const {
  const Side from = side(pair, v);
  const int others = values(from.other);
  std::vector<int> function(values(v), -1);
  for (int x = 0; x < values(v); ++x)
    for (int y = 0; y < others; ++y) {
      if (from.at(x, y) == kForbidden) continue;
      if (function[x] >= 0) return {};
      function[x] = y;
    }
  const bool is_whole = std::find(function.begin(), function.end(), -1) == function.end();
  return is_whole ? function : std::vector<int>();
}

bool Reducer::stays_small(int gone, int into) const {
  if (values(into) <= values(gone)) return true;
  if (!may_grow_) return false;
  for (const int pair : around_[gone]) {
    if (model_.pairs[pair].table.empty()) continue;
    const std::size_t others = values(side(pair, gone).other);
    if (values(into) * others > kMostMerged) return false;
  }
  return true;
}

// Where a value of one of two says which value the other one has, the other one is not needed.
void Reducer::merge_around(int v) {
  for (std::size_t i = 0; i < around_[v].size(); ++i) {
    const int pair = around_[v][i];
    if (is_new_[pair] == 0 || model_.pairs[pair].table.empty()) continue;
    is_new_[pair] = 0;
    const int other = side(pair, v).other;
    const std::vector<int> of_own = function_of(pair, v), of_other = function_of(pair, other);
    const bool can_drop_other = !of_own.empty() && stays_small(other, v);
    const bool can_drop_own = !of_other.empty() && stays_small(v, other);
    // The one with fewer pairs goes, since these have to be made anew.
    if (can_drop_other && (!can_drop_own || around_[other].size() <= around_[v].size()))
      merge(other, v, pair, of_own);
    else if (can_drop_own)
      return merge(v, other, pair, of_other);
  }
}

// `gone` is function[value of `into`].
void Reducer::merge(int gone, int into, int pair, const std::vector<int>& function) {
  const Side between = side(pair, into);
  const int count = values(into);
  Reduction::Step step{gone, into, -1, 1, std::vector<int>(original_values_[into], 0)};
  for (int x = 0; x < count; ++x) {
    step.values[original_[into][x]] = original_[gone][function[x]];
    Cost& cost = model_.variables[into].costs[x];
    cost = add_costs(
        cost, add_costs(between.at(x, function[x]), model_.variables[gone].costs[function[x]]));
  }
  result_.steps_.push_back(std::move(step));
  for (const Piece& piece : model_.variables[gone].pieces) {
    Piece moved{piece.begin, piece.end, {}};
    for (const int y : function) moved.amounts.push_back(piece.amounts[y]);
    model_.variables[into].pieces.push_back(std::move(moved));
  }
  drop_pair(pair);
  forget_dropped(gone);
  const std::vector<int> others = around_[gone];
  for (const int next : others) {
    const Side old = side(next, gone);
    std::vector<Cost> table;
    const int columns = values(old.other);
    table.reserve(static_cast<std::size_t>(count) * columns);
    for (int x = 0; x < count; ++x)
      for (int y = 0; y < columns; ++y) table.push_back(old.at(function[x], y));
    const int other = old.other;
    drop_pair(next);
    add_table(into, other, std::move(table));
  }
  remove(gone);
  touch(into);
}

}  // namespace heddle::solver
