// Solving that ends soon.
#pragma once

#include "heddle/solve.h"

namespace heddle::search {

// The same, but it ends some rounds after something was found that fits. Rounds are counted, not
// seconds: the answer is the same on every machine.
SolveOptions for_a_few_rounds(SolveOptions options);

}  // namespace heddle::search
