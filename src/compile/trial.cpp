#include "compile/trial.h"

#include <algorithm>
#include <thread>

#include "heddle/ranks.h"

namespace heddle {

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

OwnCore::OwnCore(int rank) {
  if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  const int count = CPU_COUNT(&before_);
  if (count < 2) return;
  int place = rank % count;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &before_) || place-- > 0) continue;
    cpu_set_t mine;
    CPU_ZERO(&mine);
    CPU_SET(core, &mine);
    changed_ = sched_setaffinity(0, sizeof mine, &mine) == 0;
    return;
  }
}

OwnCore::~OwnCore() {
  if (changed_) sched_setaffinity(0, sizeof before_, &before_);
}

bool take_turns(int devices) {
  return devices > static_cast<int>(std::thread::hardware_concurrency());
}

Expected<int> runs_in_a_row(double once, Transport* ranks) {
  constexpr double kStretch = 0.02;  // seconds: several turns of a scheduler
  constexpr int kMost = 4000;
  const int mine = std::clamp(static_cast<int>(kStretch / std::max(once, 1e-9)), 1, kMost);
  if (ranks == nullptr) return mine;
  return largest_of(*ranks, mine);
}

int TrialPlace::devices() const {
  if (ranks != nullptr) return ranks->size();
  return mesh != nullptr ? mesh->devices() : 1;
}

namespace {

// As a deployed program runs: threads are woken, and a process does it itself.
Verdict run_once(const TrialPlace& place, const Executable& executable,
                 const std::vector<Array>& each, std::vector<ThreadMesh::Arrays>& results) {
  if (place.mesh != nullptr) {
    std::vector<ThreadMesh::Arrays> all(static_cast<std::size_t>(place.mesh->devices()), each);
    HEDDLE_TRY(results, place.mesh->run(executable, std::move(all)));
    return yes();
  }
  HEDDLE_TRY(results[0], executable.run(each, {.transport = place.ranks}));
  if (place.ranks != nullptr) HEDDLE_TRY_VOID(meet(*place.ranks));
  return yes();
}

Expected<double> seconds_of_runs(const TrialPlace& place, const Executable& executable,
                                 const std::vector<Array>& each, int count) {
  double sum = 0;
  std::vector<ThreadMesh::Arrays> results;
  for (int run = 0; run < count; ++run) {
    results.assign(1, {});
    const auto begun = Clock::now();
    HEDDLE_TRY_VOID(run_once(place, executable, each, results));
    sum += seconds_since(begun);
  }
  return sum / count;
}

}  // namespace

Expected<double> seconds_of(const TrialPlace& place, const Executable& executable,
                            const std::vector<Type>& arguments) {
  constexpr int kLeast = 5, kMost = 400, kStretches = 5;
  constexpr double kEnough = 0.07;  // seconds
  std::vector<Array> each;
  for (const Type& type : arguments) each.emplace_back(type);
  if (place.ranks != nullptr) HEDDLE_TRY_VOID(meet(*place.ranks));
  const bool turns = take_turns(place.devices());
  int in_a_row = 1, of_ranks = 0;  // as many on each
  HEDDLE_TRY(const double once, seconds_of_runs(place, executable, each, 2));
  if (turns) {
    HEDDLE_TRY(in_a_row, runs_in_a_row(once, place.ranks));
  } else if (place.ranks != nullptr) {
    const int mine = std::clamp(static_cast<int>(kEnough / std::max(once, 1e-9)), kLeast, kMost);
    HEDDLE_TRY(of_ranks, largest_of(*place.ranks, mine));
  }
  double least = 1e30;
  const auto first = Clock::now();
  const auto goes_on = [&](int stretch) {
    if (turns) return stretch < kStretches;
    if (place.ranks != nullptr) return stretch < of_ranks;
    return stretch < kLeast || (stretch < kMost && seconds_since(first) < kEnough);
  };
  for (int stretch = 0; goes_on(stretch); ++stretch) {
    HEDDLE_TRY(const double seconds, seconds_of_runs(place, executable, each, in_a_row));
    least = std::min(least, seconds);
  }
  return least;
}

}  // namespace heddle
