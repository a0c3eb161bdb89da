// Measures devices of this machine as a mesh has them: all at work at the same time, with the
// transport between them.
#pragma once

#include <span>

#include "heddle/cluster.h"
#include "heddle/machine.h"
#include "heddle/plan.h"
#include "heddle/transport.h"

namespace heddle {

// As threads of this process; `machine` are its figures.
Expected<Cluster> calibrate_threads(int devices, const MachineFigures& machine);
// As ranks, of which this process is one; all call it together, and all get the same.
Expected<Cluster> calibrate_ranks(Transport& ranks, const MachineFigures& machine);

// Fits latency and bandwidth to measured moves; for tests.
struct MeasuredMove {
  MoveKind kind = MoveKind::all_reduce;
  double bytes = 0;  // that a device has before it
  double seconds = 0;
};
Link fit_link(std::span<const MeasuredMove> moves, std::int64_t devices);

}  // namespace heddle
