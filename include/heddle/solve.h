// Finds the cheapest assignment of a cost-function network that fits its memory, with a bound that
// says how far from the best it can be at most.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "heddle/cost_network.h"

namespace heddle {

struct SolveProgress {
  CostNetwork::Cost cost = CostNetwork::kForbidden;  // kForbidden: nothing fits yet
  CostNetwork::Cost bound = 0;
  double seconds = 0;
};

struct SolveOptions {
  // 2: a fixed amount of work, the same answer on every machine. 3: until it is proved that nothing
  // is cheaper, or it is told to stop.
  int level = 2;
  double seconds = 0;  // to stop after; 0: no limit
  double gap = 0;      // that is near enough, as a share of the cost
  // That nothing is cheaper than this is known from elsewhere.
  CostNetwork::Cost bound = 0;
  std::stop_token stop = {};
  // Asked with the bound every now and then: whether nothing that costs as much is of use. Then it
  // ends with what it has.
  std::function<bool(CostNetwork::Cost)> is_of_no_use = {};
  int threads = 2;  // change how long it takes, not what comes out
  std::function<void(const SolveProgress&)> on_progress = {};
};

struct Solution {
  std::vector<int> values;  // of all variables
  CostNetwork::Cost cost = 0;
  CostNetwork::Cost bound = 0;  // nothing that fits costs less

  bool is_optimal() const { return bound >= cost; }
  // How much cheaper another one could be, as a share of this one's cost.
  double gap() const {
    return is_optimal() ? 0 : static_cast<double>(cost - bound) / static_cast<double>(cost);
  }
};

// A reason where nothing is allowed or fits, or nothing that fits was found in time.
Expected<Solution> solve(const CostNetwork& network, const SolveOptions& options = {});

}  // namespace heddle
