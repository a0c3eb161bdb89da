// Parts of lines in the order of a program's own comparison.
#pragma once

#include "parallel/sort_pairs.h"
#include "spmd/core.h"

namespace heddle {

// What lies beyond the end of a line comes last. Where there is one value more than operands, it is
// the places, which decide between equal elements if they come first.
std::vector<ValueId> in_order(Core& core, const SplitSort& sort, std::vector<ValueId> values,
                              bool places_first);
// The places of the elements that this device has.
ValueId places_here(Core& core, const SplitSort& sort);

}  // namespace heddle
