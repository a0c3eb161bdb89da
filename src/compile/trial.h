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

// Seconds of a run, until the last device is done: the shortest, because what else the machine does
// makes runs longer, never shorter. Of devices without a core of their own one may begin when
// others are through, so that several runs in a row count together.
Expected<double> seconds_of(const TrialPlace& place, const Executable& executable,
                            const std::vector<Type>& arguments);

}  // namespace heddle
