// Lower bounds: message passing, with prices for memory that rise where it is too full.
#pragma once

#include "parallel/solver/trws.h"

namespace heddle::solver {

class Dual {
 public:
  explicit Dual(const Core& core, Tables tables = Tables::exact);

  // One pass and one change of prices; `cost` is that of the best assignment known, kInfinite
  // without. Returns the work that it took, in entries of tables.
  double step(double cost);
  // Passes at the prices of the best bound, so that messages settle; returns their work.
  double settle(int passes);
  // Values that are marked are not to be taken from now on: it goes on with a part of the network.
  void close(const std::vector<char>& closed);
  // No assignment that fits costs less.
  double bound() const { return bound_; }
  // The prices of the best bound.
  const std::vector<double>& prices() const { return best_prices_; }
  // The values that this pass finds likely.
  std::vector<int> decode() const { return trws_.decode(costs_); }
  // How unlikely the last pass finds each value; indexed as all values.
  const std::vector<double>& margins() const { return trws_.margins(); }
  // Steps since the bound rose.
  int since_gain() const { return since_gain_; }

 private:
  double pass();
  void change_prices(double bound, double cost);
  void set_costs();

  const Core& core_;
  Trws trws_;
  std::vector<double> prices_, best_prices_, costs_;
  std::vector<char> closed_;  // values; empty: none
  double bound_ = -kInfinite, last_gain_ = -kInfinite;
  double eagerness_ = 1;
  double work_ = 0;
  int steps_ = 0, since_gain_ = 0;
};

}  // namespace heddle::solver
