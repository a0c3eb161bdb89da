// The few values of each variable that look best.
#pragma once

#include "parallel/solver/core.h"

namespace heddle::solver {

// As many values as there are `for_each` of all variables together, those with the least margins;
// and those that are chosen already, where something is.
std::vector<std::vector<int>> likely_values(const Core& core, const std::vector<double>& margins,
                                            const std::vector<int>& chosen, int for_each);

}  // namespace heddle::solver
