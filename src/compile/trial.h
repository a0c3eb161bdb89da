// Runs a program on devices of this machine, all at the same time, and takes the time.
#pragma once

#include <sched.h>

#include <chrono>
#include <vector>

#include "heddle/executable.h"
#include "heddle/thread_mesh.h"

namespace heddle {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begun);

// Threads that are devices; or this process as the one device, or as one rank of several.
struct TrialPlace {
  ThreadMesh* mesh = nullptr;
  Transport* ranks = nullptr;
  int devices() const;
};

// While it lives, this rank keeps to one of the cores that it may use, and the next rank to the
// next one: measured is how ranks share the machine when they are dealt out evenly, as they mostly
// are, and not what happens when two meet on a core while another one is idle.
class OwnCore {
 public:
  explicit OwnCore(int rank);
  ~OwnCore();
  OwnCore(const OwnCore&) = delete;
  OwnCore& operator=(const OwnCore&) = delete;

 private:
  cpu_set_t before_;
  bool changed_ = false;
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
