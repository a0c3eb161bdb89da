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

// More devices than cores. One of them may begin when others are through, or wait for its turn, so
// that a stretch of runs counts together, which is as long on all ranks.
bool take_turns(int devices);
Expected<int> runs_in_a_row(double once, Transport* ranks);

// Seconds of a run, until the last device is done: the shortest, because what else the machine does
// makes runs longer, never shorter; of devices that take turns the shortest stretch.
Expected<double> seconds_of(const TrialPlace& place, const Executable& executable,
                            const std::vector<Type>& arguments);

}  // namespace heddle
