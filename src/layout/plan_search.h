// Cheapest path through a PlanSpace.
#pragma once

#include "layout/plan_space.h"

namespace heddle {

// One step from a state to the next.
struct Step {
  MoveKind kind = MoveKind::slice;
  State to{};
  std::vector<std::size_t> subs;  // which sub-axes change
  double seconds = 0;
  std::int64_t bytes = 0, live = 0;
};

enum class SearchGoal : std::uint8_t { fastest, least_memory };

struct SearchRules {
  SearchGoal goal = SearchGoal::fastest;
  std::int64_t memory_cap = 0;  // 0: none
  bool groups = true;           // all-to-all over several sub-axes at once
  double faster_than = 1e300;   // ways that are not are left out
  bool brief = false;           // gives up early
  bool gather_only = false;     // finish and gather everything, then cut: the naive way
};

struct SearchResult {
  std::vector<Step> steps;
  double seconds = 0;
  std::int64_t peak = 0;
};

struct Searched {
  std::optional<SearchResult> way;  // none: the rules allow none, or none was found in time
  int states = 0;                   // looked at
  bool exhaustive = true;           // false: there were too many ways to look at all of them
};

Searched search(const PlanSpace& space, const SearchRules& rules);

}  // namespace heddle
