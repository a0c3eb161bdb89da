// Rows that a block has together and that have nothing to do with each other.
#pragma once

#include "heddle/kernel.h"

namespace heddle {

// The phase with an outer loop in place of the first loop of its stages, where all of them have
// that loop and each of its positions uses scratch of its own: a block goes through all stages with
// one long row, which it finds in caches again, before it looks at the next. Else the phase as it
// is.
Phase with_rows_apart(const Kernel& kernel, const Phase& phase);

}  // namespace heddle
