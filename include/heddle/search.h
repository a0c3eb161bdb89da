// Search: how a program is best dealt out over a mesh, where nobody says it. Every op may be shared
// in every way that its index rule allows; the cheapest of all together is found, with a bound that
// says how much cheaper another one could be.
#pragma once

#include <atomic>
#include <functional>

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
  // How often an op of the function's own region is done in a run, by OpId, and how often an
  // argument comes; none: once. What is made less often than it is used is brought as often as it
  // is made.
  std::vector<double> times = {}, argument_times = {};
  // Rows of arguments that are taken in parts lie on stages of their own: devices share no rows.
  bool rows_lie_on_stages = false;
  // What a plan takes that is at hand already, where there is one, in seconds: nothing that takes
  // more is of use, and the search ends where it is known to.
  const std::atomic<double>* to_beat = nullptr;
  bool details = false;  // for a report: what else each choice could be, and memory over time
  // Says both of the program that is searched in the end, where it was rewritten before.
  std::function<void(const Program&, const Function&, SearchOptions&)> count = {};
};

// Why there is no plan where one at hand takes less than any could.
inline constexpr const char* kBeaten = "there is a better plan on another mesh";

// What a search knows of the plan that it found.
struct PlanDetails {
  // One way to go for what was chosen together.
  struct Way {
    std::string what;         // "a over dp, c over tp"; empty for values
    std::string takes, lies;  // splits of operands and results
    // What the plan would take beside what it does, were this way taken and what is next to it
    // changed where that pays: the best plan with it takes no more.
    double more_seconds = 0;
    std::int64_t more_bytes = 0;  // where most is held now
  };
  struct Chosen {
    OpId op = kNone;        // the first one that it was chosen for
    ValueId value = kNone;  // of all but ops
    std::size_t alike = 1;
    double seconds = 0;  // of one of them, by itself
    Way way;
    std::vector<Way> others;  // the cheapest, and how many there are beside them
    std::size_t not_listed = 0;
  };
  struct Held {
    std::string what;  // "tensor<8x4xf32> of dot_general at f.mlir:3:5"
    std::int64_t bytes = 0;
  };
  std::vector<Chosen> choices;
  std::vector<int> of_op, of_argument;           // into choices; -1: none
  double compute_seconds = 0, move_seconds = 0;  // of the plan, by the search's figures
  std::vector<std::int64_t> held;                // bytes over time
  std::int64_t fullest = 0;                      // when most is held
  std::vector<Held> at_fullest;                  // the largest
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

// What a plan computes again.
struct Recomputed {
  std::size_t which = 0;  // of those that were given
  int effort = 0;
  std::size_t ops = 0;
  std::int64_t bytes = 0;  // of a device that are not kept
  double seconds = 0;      // that it takes
};

struct FoundPlan {
  Propagation layouts;                // for decide()
  double cost = 0, bound = 0;         // seconds of one run; no plan takes less than the bound
  double moves = 0;                   // seconds that moves take, of which
  double exposed = 0;                 // so many have nothing beside them, and are in the cost
  std::vector<Carried> carried = {};  // as it was told
  double seconds = 0;                 // that the search took
  std::int64_t peak_bytes = 0;        // of one device, by the search's count
  std::int64_t held_bytes = 0;        // the same without copies of values that are moved: its limit
  std::int64_t memory = INT64_MAX;    // that it was to take at most
  std::int64_t wish = INT64_MAX;      // more than that is more than a device of the cluster has
  std::size_t cells = 0, variables = 0;
  // By OpId of the function's own region: seconds of all its times, with what is brought to it.
  std::vector<double> op_seconds;
  std::optional<Recomputed> recomputed = {};
  std::shared_ptr<const PlanDetails> details = {};  // where they were asked for
  double gap() const { return cost > bound ? (cost - bound) / cost : 0; }
};

// What `options` and the program say of values holds; all others are searched. A reason where
// nothing fits, or the program leaves nothing to search. Where the function does not fit, or not
// well, `others` are looked at too, and the bound is one for all that were looked at.
Expected<FoundPlan> search_plan(const Program& program, const Function& function, RuleCache& rules,
                                const PropagateOptions& options, const SearchOptions& how = {},
                                std::span<const Recomputing> others = {});

}  // namespace heddle
