// Runs a program on devices of this machine, all at the same time, and takes the time.
#pragma once

#include <chrono>
#include <vector>

#include "heddle/executable.h"
#include "heddle/thread_mesh.h"

namespace heddle {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begun);

// Threads that are devices, or ranks that have one each.
struct TrialPlace {
  ThreadMesh& mesh;
  Transport* ranks = nullptr;
};

// Seconds of a run, until the last device is done. Of several stretches of runs the shortest: what
// else the machine does makes them longer, never shorter. Runs of one stretch count together, since
// of devices without a core of their own one may begin when others are through.
Expected<double> seconds_of(const TrialPlace& place, const Executable& executable,
                            const std::vector<Type>& arguments);

}  // namespace heddle
