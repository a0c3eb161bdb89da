// The solver on random networks, compared with a look at every assignment.
#include "heddle/cost_network_file.h"
#include "random_network.h"

namespace heddle::property {
namespace {

SolveOptions options_of(int level, int threads = 1) {
  SolveOptions options;
  options.level = level;
  options.threads = threads;
  return options;
}

// At level 3 the best is found and proved, or it is proved that there is none.
void finds_the_best(Choices& choices, bool with_memory) {
  const CostNetwork network = random_network(choices, {}, with_memory);
  const auto best = Exhaustive(network).best();
  const Expected<Solution> found = solve(network, options_of(3));
  if (!best) {
    require(!found.ok(), [] { return std::string("a solution where there is none"); });
    require(found.reason().find("was found") == std::string::npos,
            [&] { return "not proved: " + found.reason(); });
    return;
  }
  require(found.ok(), [&] { return found.reason(); });
  require(found->cost == *best && found->bound == *best, [&] {
    return fmt::format("cost {}, bound {}, best {}", found->cost, found->bound, *best);
  });
  const Verdict fits = network.check(found->values);
  require(fits.ok(), [&] { return fits.reason(); });
}

HEDDLE_LAW(SolverLaw, FindsTheBestWithoutMemory) { finds_the_best(choices, false); }
HEDDLE_LAW(SolverLaw, FindsTheBestWithMemory) { finds_the_best(choices, true); }

// At level 2 the bound is right, and the answer does not depend on threads.
HEDDLE_LAW(SolverLaw, BoundsHoldAndThreadsDoNotMatter) {
  const CostNetwork network = random_network(choices, {8, 5}, !choices.one_in(3));
  const auto best = Exhaustive(network).best();
  const Expected<Solution> one = solve(network, options_of(2, 1));
  const Expected<Solution> two = solve(network, options_of(2, 2));
  require(one.ok() == two.ok(), [] { return std::string("threads decide whether it is found"); });
  if (!one) return require(!best.has_value(), [&] { return one.reason(); });
  require(one->values == two->values && one->bound == two->bound,
          [] { return std::string("another answer with two threads"); });
  require(best.has_value() && one->bound <= *best && *best <= one->cost, [&] {
    return fmt::format("bound {}, best {}, cost {}", one->bound, best.value_or(-1), one->cost);
  });
  require(network.cost_of(one->values) == one->cost,
          [] { return std::string("it costs something else"); });
}

// What is written reads as the same network.
HEDDLE_LAW(SolverLaw, FilesKeepTheNetwork) {
  const CostNetwork network = random_network(choices, {6, 4}, true);
  const auto text = format_cost_network(network);
  if (!text) return;
  const auto again = parse_cost_network(*text);
  require(again.ok(), [&] { return again.reason(); });
  require(*format_cost_network(*again) == *text, [&] { return *text; });
}

}  // namespace
}  // namespace heddle::property
