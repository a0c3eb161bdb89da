// The figures that a target's plans are made with.
#pragma once

#include "heddle/machine.h"
#include "heddle/target.h"

namespace heddle {

// Those of the options; else of this machine, of which devices that are threads share the cores,
// the last cache and the memory.
MachineFigures figures_for(const Target& target, std::int64_t devices);

}  // namespace heddle
