// Values that are closed because what others take at least leaves no room for them.
#pragma once

#include "parallel/solver/core.h"

namespace heddle::solver {

// Closes more values, as long as that closes more. `closed` is indexed as all values. False: not
// even the least of all values that are open fits.
bool close_without_room(const Core& core, std::vector<char>& closed);

}  // namespace heddle::solver
