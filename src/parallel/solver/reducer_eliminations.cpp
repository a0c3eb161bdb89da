// Variables without memory, and with at most two neighbours, are chosen by these.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "parallel/solver/core.h"
#include "parallel/solver/reducer.h"
#include "parallel/solver/rows.h"

namespace heddle::solver {
namespace {

constexpr std::size_t kMostTable = 1 << 14;  // entries of a table that an elimination makes
constexpr Cost kMostExact = Cost{1} << 50;   // sums of a few are exact as floating-point numbers

// Costs as numbers; false where one is too large for that.
bool add_numbers(Cost cost, std::vector<double>& numbers) {
  numbers.push_back(cost == kForbidden ? kInfinite : static_cast<double>(cost));
  return cost == kForbidden || std::abs(cost) <= kMostExact;
}

}  // namespace

bool Reducer::eliminate(int v) {
  const bool is_plain = model_.variables[v].pieces.empty() || values(v) == 1;
  if (!is_plain || (around_[v].size() > 2 && values(v) > 1)) return false;
  if (values(v) == 1) {
    eliminate_alone(v);
    return true;
  }
  if (around_[v].empty()) {
    eliminate_alone(v);
    return true;
  }
  if (around_[v].size() == 1) {
    eliminate_leaf(v);
    return true;
  }
  const std::size_t a = values(side(around_[v][0], v).other);
  const std::size_t b = values(side(around_[v][1], v).other);
  if (a * b > kMostTable) return false;
  eliminate_inner(v);
  return true;
}

// Its cheapest value, or the only one that it has.
void Reducer::eliminate_alone(int v) {
  const auto& costs = model_.variables[v].costs;
  const int best = static_cast<int>(std::min_element(costs.begin(), costs.end()) - costs.begin());
  model_.constant += costs[best];
  result_.steps_.push_back({v, -1, -1, 1, {original_[v][best]}});
  const std::vector<int> around = around_[v];
  for (const int pair : around) {
    const Side other = side(pair, v);
    for (int y = 0; y < values(other.other); ++y) {
      Cost& cost = model_.variables[other.other].costs[y];
      cost = add_costs(cost, other.at(best, y));
    }
    drop_pair(pair);
  }
  // What it takes is taken always.
  for (const Piece& piece : model_.variables[v].pieces) {
    taken_[piece.begin] += piece.amounts[best];
    taken_[piece.end] -= piece.amounts[best];
  }
  remove(v);
}

void Reducer::eliminate_leaf(int v) {
  const int pair = around_[v][0];
  const Side own = side(pair, v);
  const int u = own.other;
  Reduction::Step step{v, u, -1, 1, std::vector<int>(original_values_[u], 0)};
  for (int y = 0; y < values(u); ++y) {
    Cost best = kForbidden;
    for (int x = 0; x < values(v); ++x) {
      const Cost cost = add_costs(model_.variables[v].costs[x], own.at(x, y));
      if (cost >= best) continue;
      best = cost;
      step.values[original_[u][y]] = original_[v][x];
    }
    model_.variables[u].costs[y] = add_costs(model_.variables[u].costs[y], best);
  }
  result_.steps_.push_back(std::move(step));
  drop_pair(pair);
  remove(v);
  touch(u);
}

// The cheapest value between each pair of its neighbours' values, -1: none, and what it costs.
Reducer::Between Reducer::best_between(int v, const Side& to_a, const Side& to_b) const {
  if (auto found = quick_best_between(v, to_a, to_b)) return *std::move(found);
  Between made;
  for (int y = 0; y < values(to_a.other); ++y)
    for (int z = 0; z < values(to_b.other); ++z) {
      Cost least = kForbidden;
      int best = -1;
      for (int x = 0; x < values(v); ++x) {
        const Cost cost =
            add_costs(model_.variables[v].costs[x], add_costs(to_a.at(x, y), to_b.at(x, z)));
        if (cost >= least) continue;
        least = cost;
        best = x;
      }
      made.first.push_back(least);
      made.second.push_back(best);
    }
  return made;
}

// The same with numbers; none where these would not be exact.
std::optional<Reducer::Between> Reducer::quick_best_between(int v, const Side& to_a,
                                                            const Side& to_b) const {
  const int count = values(v), rows = values(to_b.other);
  bool exact = count <= std::numeric_limits<std::uint16_t>::max();
  std::vector<double> own, from_b, base(static_cast<std::size_t>(count));
  for (const Cost cost : model_.variables[v].costs) exact = add_numbers(cost, own) && exact;
  for (int z = 0; z < rows; ++z)
    for (int x = 0; x < count; ++x) exact = add_numbers(to_b.at(x, z), from_b) && exact;
  Between made;
  std::vector<double> least(static_cast<std::size_t>(rows)), from_a;
  std::vector<std::uint16_t> best(static_cast<std::size_t>(rows));
  const Run run{from_b.data(), static_cast<std::size_t>(count)};
  for (int y = 0; y < values(to_a.other) && exact; ++y) {
    from_a.clear();
    for (int x = 0; x < count; ++x) exact = add_numbers(to_a.at(x, y), from_a) && exact;
    for (int x = 0; x < count; ++x) base[x] = own[x] + from_a[x];
    least_rows(base.data(), count, &run, 1, rows, least.data(), best.data());
    for (int z = 0; z < rows; ++z) {
      const bool is_allowed = least[z] < kInfinite / 2;
      made.first.push_back(is_allowed ? static_cast<Cost>(least[z]) : kForbidden);
      made.second.push_back(is_allowed ? best[z] : -1);
    }
  }
  if (!exact) return std::nullopt;
  return made;
}

void Reducer::eliminate_inner(int v) {
  const int left = around_[v][0], right = around_[v][1];
  const Side to_a = side(left, v), to_b = side(right, v);
  const int a = to_a.other, b = to_b.other;
  Reduction::Step step{
      v, a, b, original_values_[b],
      std::vector<int>(static_cast<std::size_t>(original_values_[a]) * original_values_[b], 0)};
  const auto [table, bests] = best_between(v, to_a, to_b);
  for (int y = 0; y < values(a); ++y)
    for (int z = 0; z < values(b); ++z)
      if (const int best = bests[static_cast<std::size_t>(y) * values(b) + z]; best >= 0)
        step.values[static_cast<std::size_t>(original_[a][y]) * step.columns + original_[b][z]] =
            original_[v][best];
  result_.steps_.push_back(std::move(step));
  drop_pair(left);
  drop_pair(right);
  remove(v);
  add_table(a, b, table);
  touch(a);
  touch(b);
}

}  // namespace heddle::solver
