// Sums that a loop only adds to: what devices contribute in every turn is summed over them once,
// behind the loop.
#pragma once

#include "parallel/price.h"

namespace heddle {

// By number of what the loop carries: what a turn adds to it, where nothing else is done with it.
// Empty for all others.
std::vector<std::vector<ValueId>> added_in_turns(OnMesh& on, const Op& loop,
                                                 const std::vector<int>& uses);

}  // namespace heddle
