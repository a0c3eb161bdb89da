// Sequential tree-reweighted message passing: a lower bound of a network without memory, and
// messages that say which values are likely.
#pragma once

#include "parallel/solver/core.h"

namespace heddle::solver {

class Trws {
 public:
  explicit Trws(const Core& core);

  // One pass forth and back with these costs of values. Returns a lower bound of the cost of any
  // assignment, the core's constant included; messages are kept for the next pass.
  double pass(const std::vector<double>& costs);
  // A value for each variable, one by one: given the ones before it, and messages of the others.
  std::vector<int> decode(const std::vector<double>& costs) const;
  // What each value of a variable costs with what others say of it.
  std::vector<double> costs_of(const std::vector<double>& costs, int v) const;
  // After a pass: the values that look best one by one.
  const std::vector<int>& likely() const { return likely_; }
  // After a pass: by how much the bound rises at least where a variable has to have a value.
  const std::vector<double>& margins() const { return margins_; }

 private:
  double sweep(const std::vector<double>& costs, bool forth);
  void gather(const std::vector<double>& costs, int v);
  double send(int v, int place, double share);

  const Core& core_;
  std::vector<int> places_;  // of the messages to a variable from each neighbour
  std::vector<int> first_;   // the first neighbour's number of each variable
  std::vector<int> back_;    // the number of the same pair at the other end
  std::vector<double> messages_;
  std::vector<double> own_;  // what the values of the variable at hand cost with messages
  std::vector<double> sent_;
  std::vector<int> likely_;
  std::vector<double> margins_;
};

}  // namespace heddle::solver
