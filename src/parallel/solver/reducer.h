// The work behind `Reduction`: a network that shrinks.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <unordered_map>

#include "parallel/solver/compared_rows.h"
#include "parallel/solver/reduce.h"

namespace heddle::solver {

class Reducer {
 public:
  // Stops to reduce, where it is told to, before all is done.
  Reducer(const CostNetwork& network, std::function<bool()> stop);
  Reducer(const Model& model, const std::vector<std::vector<int>>& kept,
          std::function<bool()> stop);
  Expected<Reduction> run();

 private:
  // A table seen from one of its two variables.
  struct Side {
    const Pair* pair;
    bool is_first;
    int other;
    std::size_t columns;  // of the table
    Cost at(int own, int others) const {
      return is_first ? pair->table[own * columns + others] : pair->table[others * columns + own];
    }
  };

  void begin(int variables);

  int values(int v) const { return static_cast<int>(model_.variables[v].costs.size()); }
  bool allows(int v, int value) const { return model_.variables[v].costs[value] != kForbidden; }
  Side side(int pair, int v) const;
  void touch(int v);
  void mark(int pair);
  void forget_dropped(int v);
  bool propagate();
  bool visit(int v);

  // Values without a partner, and those that are forbidden, go away. False: none is left.
  bool restrict(int v);
  bool forbid_lonely(int pair, int v);
  bool has_partner(const Side& side, int value) const;
  void compact(int v);
  void compact_table(int pair, int v, const std::vector<int>& kept);

  // The value of the other variable that each value of v goes with; empty where one has several.
  std::vector<int> function_of(int pair, int v) const;
  void merge_around(int v);
  bool stays_small(int gone, int into) const;
  void merge(int gone, int into, int pair, const std::vector<int>& function);
  void add_table(int a, int b, std::vector<Cost> table);
  void drop_pair(int pair);
  void remove(int v);

  bool eliminate(int v);
  void eliminate_alone(int v);
  using Between = std::pair<std::vector<Cost>, std::vector<int>>;
  Between best_between(int v, const Side& to_a, const Side& to_b) const;
  std::optional<Between> quick_best_between(int v, const Side& to_a, const Side& to_b) const;
  void eliminate_leaf(int v);
  void eliminate_inner(int v);

  void dominate_all();
  void dominate(int v);
  ComparedRows rows_of(int v) const;
  bool is_worse(int v, int value, int other, const ComparedRows& rows) const;

  Verdict shrink_memory();
  void forbid_too_large();
  Reduction finish();

  Model model_;  // pairs without a table are gone
  std::function<bool()> stop_;
  std::vector<std::vector<int>> around_;    // pairs of each variable, and some that are gone
  std::vector<std::vector<int>> original_;  // the network's value of each value
  std::vector<char> gone_, waiting_, changed_;
  std::vector<char> is_new_;  // pairs that have not been looked at as they are
  std::unordered_map<std::uint64_t, int> between_;  // the pair of two variables
  std::deque<int> queue_;
  bool may_grow_ = false;  // tables, by a merge
  std::vector<int> original_values_;
  std::size_t memory_before_ = 0;    // when dominated times were looked for
  std::vector<std::int64_t> taken_;  // by variables that are gone; steps from time to time
  Reduction result_;
};

}  // namespace heddle::solver
