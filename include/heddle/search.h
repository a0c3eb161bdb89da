// Search: how a program is best dealt out over a mesh, where nobody says it. Every op may be shared
// in every way that its index rule allows; the cheapest of all together is found, with a bound that
// says how much cheaper another one could be.
#pragma once

#include <functional>

#include "heddle/parallel.h"
#include "heddle/solve.h"

namespace heddle {

struct SearchOptions {
  // What one device has. A plan that takes more by the search's count is not found.
  std::int64_t memory_limit = INT64_MAX;
  // What it would better take at most: kept wherever a plan can be found that does.
  std::int64_t memory_wish = INT64_MAX;
  SolveOptions solve = {};
  // How often an op of the function's own region is done in a run, by OpId, and how often an
  // argument comes; none: once. What is made less often than it is used is brought as often as it
  // is made.
  std::vector<double> times = {}, argument_times = {};
  // Says both of the program that is searched in the end, where it was rewritten before.
  std::function<void(const Program&, const Function&, SearchOptions&)> count = {};
};

struct FoundPlan {
  Propagation layouts;          // for decide()
  double cost = 0, bound = 0;   // seconds of one run; no plan takes less than the bound
  double seconds = 0;           // that the search took
  std::int64_t peak_bytes = 0;  // of one device, by the search's count
  std::size_t cells = 0, variables = 0;
  // By OpId of the function's own region: seconds of all its times, with what is brought to it.
  std::vector<double> op_seconds;
  double gap() const { return cost > bound ? (cost - bound) / cost : 0; }
};

// What `options` and the program say of values holds; all others are searched. A reason where
// nothing fits, or the program leaves nothing to search.
Expected<FoundPlan> search_plan(const Program& program, const Function& function, RuleCache& rules,
                                const PropagateOptions& options, const SearchOptions& how = {});

}  // namespace heddle
