// Sequential tree-reweighted message passing: a lower bound of a network without memory, and
// messages that say which values are likely.
#pragma once

#include <memory>

#include "parallel/solver/core.h"

namespace heddle::solver {

// Tables as they are; or in half the memory, which is what passes over large networks wait for:
// rounded down, so that bounds hold and are lower by a ten millionth at most.
enum class Tables : std::uint8_t { exact, rounded };

class Trws {
 public:
  explicit Trws(const Core& core, Tables tables = Tables::exact);

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
  void round_tables();

  const Core& core_;
  std::vector<int> places_;  // of the messages to a variable from each neighbour
  std::vector<int> first_;   // the first neighbour's number of each variable
  std::vector<int> back_;    // the number of the same pair at the other end
  std::vector<double> messages_;
  std::vector<double> own_;  // what the values of the variable at hand cost with messages
  std::vector<double> sent_;
  std::vector<int> likely_;
  std::vector<double> margins_;
  std::shared_ptr<const std::vector<float>> rounded_;  // tables; none where they are exact
  std::vector<std::size_t> rounded_at_;  // of each neighbour's number: where its table begins
};

}  // namespace heddle::solver
