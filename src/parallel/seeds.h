// What the author of a program says of its values, before anything follows from it.
#pragma once

#include "heddle/parallel.h"

namespace heddle {

struct State {
  Split split;
  std::vector<bool> closed;
  std::vector<std::int64_t> priority;
  SplitAxes kept_free;  // axes that the author wants without use
  Split later;          // dimensions that wait for their priority
};

struct Seeds {
  std::vector<State> states;                  // by ValueId
  std::vector<std::optional<Split>> results;  // of the function, where something is said
};
Expected<Seeds> seeds_of(const Program& program, const Function& function,
                         const PropagateOptions& options);

}  // namespace heddle
