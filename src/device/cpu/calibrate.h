// The figures of this machine that plans are made with: measured once, kept in the cache directory.
#pragma once

#include <string>

#include "heddle/error.h"
#include "heddle/machine.h"

namespace heddle {

// Those of the last calibration on this kind of machine; without one, what the system says of cores
// and caches, and common rates for the rest.
MachineFigures host_figures();

// Measures with kernels of our own, in about a second. A reason where there is no compiler for
// them.
Expected<MachineFigures> calibrate();

// Keeps them for host_figures(). A reason where there is no cache directory, or no room in it.
Verdict keep_figures(const MachineFigures& figures);

// The processor that figures belong to: "AMD EPYC, 2 cores".
std::string host_name();

}  // namespace heddle
