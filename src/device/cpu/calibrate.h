// Measures the figures of this machine that plans are made with (heddle/cost.h keeps them).
#pragma once

#include "heddle/error.h"
#include "heddle/machine.h"

namespace heddle {

// Measures with kernels of our own, in about a second. A reason where there is no compiler for
// them.
Expected<MachineFigures> calibrate();

}  // namespace heddle
