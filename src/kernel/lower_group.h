// From a group of ops to the kernel that computes it.
#pragma once

#include "heddle/kernel.h"
#include "heddle/machine.h"
#include "heddle/stitch.h"

namespace heddle {

// A reason where the group cannot be one kernel.
Expected<Kernel> lower_group(const Program& program, const StitchGroup& group,
                             const MachineFigures& machine = {});

}  // namespace heddle
