// What it takes to bring a value from one split to another, for very many pairs.
#pragma once

#include <map>
#include <unordered_map>

#include "heddle/cost_network.h"
#include "heddle/price.h"
#include "parallel/search/known_moves.h"
#include "parallel/search/move_pattern.h"

namespace heddle::search {

// Seconds as whole numbers, so that sums are exact and the same everywhere.
CostNetwork::Cost cost_of_seconds(double seconds);
double seconds_of_cost(CostNetwork::Cost cost);

// The planner is asked about patterns, of which there are few. How many bytes there are makes a
// difference only in steps, between which costs lie on lines. The cheapest of several ways, each a
// line, bends downwards only: where three steps are on one line, all between them are.
class MoveCosts {
 public:
  explicit MoveCosts(OnMesh& on);

  // Forbidden where a sum would have to be taken apart.
  CostNetwork::Cost of(int from, int to, const Type& type);

 private:
  struct Pattern {
    int from = 0, to = 0;         // splits of a small value
    std::vector<double> seconds;  // by step; below 0: not known
  };
  static constexpr int kNever = -1;
  static constexpr signed char kNotAsked = -1;

  int pattern_between(int from, int to);
  int find_pattern(int from, int to);
  int renamed(int split, std::size_t way);
  bool is_even(int split);
  double seconds(Pattern& pattern, double bytes);
  double at_step(Pattern& pattern, int step);
  void fill_lines(std::vector<double>& seconds, int step) const;
  double planned(const Pattern& pattern, int step) const;

  OnMesh& on_;
  const std::shared_ptr<KnownMoves> known_;
  std::vector<std::vector<int>> names_;    // axes for axes, in all ways that change nothing
  std::vector<std::vector<int>> renamed_;  // splits, by way and split; -1: not asked
  std::vector<signed char> even_;          // whether all blocks are, by split
  std::vector<Pattern> patterns_;
  std::map<std::pair<int, int>, int> numbers_;  // of patterns, by their splits
  PatternKeys keys_;
  struct KeyHash {
    std::size_t operator()(const std::vector<int>& key) const;
  };
  std::unordered_map<std::vector<int>, int, KeyHash> by_key_;  // patterns
};

}  // namespace heddle::search
