// Loads that need not ask first.
#pragma once

#include "heddle/kernel.h"

namespace heddle {

// The stage with unguarded loads where the element exists whatever the guard says, and where nobody
// looks at the value unless it holds: what a row needs for its elements is then loaded once, not
// once for every element that asks (zeros behind a row), and neighbours are loaded together.
Stage without_needless_guards(const Kernel& kernel, const Phase& phase, Stage stage);

}  // namespace heddle
