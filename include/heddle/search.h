// Search: how a program is best dealt out over a mesh, where nobody says it. Every op may be shared
// in every way that its index rule allows; the cheapest of all together is found, with a bound that
// says how much cheaper another one could be.
#pragma once

#include "heddle/parallel.h"
#include "heddle/solve.h"

namespace heddle {

struct SearchOptions {
  // What one device has. A plan that takes more by the search's count is not found.
  std::int64_t memory_limit = INT64_MAX;
  // What it would better take at most: kept wherever a plan can be found that does.
  std::int64_t memory_wish = INT64_MAX;
  // What is computed again instead of being kept: that of this effort, 0 for nothing; otherwise
  // what is best where memory is limited.
  std::optional<int> recompute = {};
  SolveOptions solve = {};
};

// A function of a program that computes the same as another one, and some of it again instead of
// keeping it until it is needed late.
struct Recomputing {
  int effort = 0;  // how much work may be done to keep a byte less; the same on every machine
  Function function;
  std::vector<OpId> copies;     // what is computed again
  std::vector<ValueId> needed;  // values that would be kept without them
  std::vector<ValueId> kept;    // those that are kept
};

// From little work to much; their functions are part of the program, and in no list of it.
std::vector<Recomputing> recomputing(Program& program, const Function& function,
                                     const SearchOptions& how);

struct FoundPlan {
  Propagation layouts;                // for decide()
  double cost = 0, bound = 0;         // seconds of one run; no plan takes less than the bound
  double moves = 0;                   // seconds that moves take, of which
  double exposed = 0;                 // so many have nothing beside them, and are in the cost
  std::vector<Carried> carried = {};  // as it was told
  double seconds = 0;                 // that the search took
  std::int64_t peak_bytes = 0;        // of one device, by the search's count
  std::int64_t memory = INT64_MAX;    // that it was to take at most
  std::size_t cells = 0, variables = 0;
  struct Recomputed {
    std::size_t which = 0;  // of those that were given
    int effort = 0;
    std::size_t ops = 0;
    std::int64_t bytes = 0;  // of a device that are not kept
    double seconds = 0;      // that it takes
  };
  std::optional<Recomputed> recomputed = {};
  double gap() const { return cost > bound ? (cost - bound) / cost : 0; }
};

// What `options` and the program say of values holds; all others are searched. A reason where
// nothing fits, or the program leaves nothing to search. Where the function does not fit, or not
// well, `others` are looked at too, and the bound is one for all that were looked at.
Expected<FoundPlan> search_plan(const Program& program, const Function& function, RuleCache& rules,
                                const PropagateOptions& options, const SearchOptions& how = {},
                                std::span<const Recomputing> others = {});

}  // namespace heddle
