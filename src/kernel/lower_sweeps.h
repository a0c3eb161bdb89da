// Stencils one after the other as a kernel.
#pragma once

#include "heddle/kernel.h"
#include "stitch/sweeps.h"

namespace heddle {

// A block has the rows that the group's choice says.
Expected<Kernel> lower_sweeps(const Program& program, const StitchGroup& group,
                              const Sweeps& sweeps);

}  // namespace heddle
