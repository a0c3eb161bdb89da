// Which variables meet in tables while others are eliminated.
#pragma once

#include "parallel/solver/core.h"
#include "parallel/solver/places.h"
#include "parallel/solver/random.h"

namespace heddle::solver {

// Variables go by their number among the candidates.
class Elimination {
 public:
  Elimination(const Core& core, std::span<const int> candidates, Random& random, Places& places);

  bool is_over() const { return left_.empty(); }
  // Entries of the table in which it meets others.
  double weight(int at) const { return weights_[at]; }
  const std::vector<int>& around(int at) const { return around_[at]; }
  int lightest() const;
  // One that makes tables large, by luck more or less.
  int heaviest() const;
  // It stays as it is: others do not meet it any more.
  void leave(int at) { take_out(at); }
  // Those that it meets meet each other.
  void eliminate(int at);

 private:
  void take_out(int at);
  void weigh(int at);

  std::vector<std::vector<int>> around_;
  std::vector<int> left_, sizes_;
  std::vector<double> weights_, luck_;
  const double sense_;  // how much weight counts beside luck
};

}  // namespace heddle::solver
