// What it takes to bring a value from one split to another, for very many pairs.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>

#include "heddle/cost_network.h"
#include "heddle/price.h"

namespace heddle::search {

// Seconds as whole numbers, so that sums are exact and the same everywhere.
CostNetwork::Cost cost_of_seconds(double seconds);
double seconds_of_cost(CostNetwork::Cost cost);

// The planner is asked about patterns, of which there are few: which axes count which digits of a
// value before and after. How large its dimensions are makes no difference where blocks are even,
// and how many bytes there are only in steps, between which costs lie on lines.
class MoveCosts {
 public:
  explicit MoveCosts(OnMesh& on);

  // Forbidden where a sum would have to be taken apart.
  CostNetwork::Cost of(int from, int to, const Type& type);

 private:
  static constexpr std::size_t kMostAxes = 8;
  // Two places of each axis, before and after: a digit of the value, counted in the order of the
  // axes, none, or sums that are to be made.
  using Pattern = std::uint64_t;

  // None where an axis is cut.
  std::optional<Pattern> pattern_of(int from, int to);
  // What it takes where no pattern says it: the same along axes that are alike.
  double planned(int from, int to, std::int64_t element_bits);
  int renamed(int split, std::size_t way);
  double seconds(Pattern pattern, ReduceOp reduce, double bytes);
  double planned(Pattern pattern, ReduceOp reduce, int step);

  OnMesh& on_;
  std::vector<std::vector<int>> names_;    // axes for axes, in all ways that change nothing
  std::vector<std::vector<int>> renamed_;  // splits, by way and split; -1: not asked
  // Seconds by step; below 0: not asked.
  std::map<ReduceOp, std::unordered_map<Pattern, std::vector<double>>> known_;
};

}  // namespace heddle::search
