#include "compile/trial.h"

#include <algorithm>
#include <thread>

#include "heddle/ranks.h"

namespace heddle {

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
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

namespace {

Expected<double> seconds_of_runs(const TrialPlace& place, const Executable& executable,
                                 const std::vector<Array>& each, int count) {
  double sum = 0;
  for (int run = 0; run < count; ++run) {
    std::vector<ThreadMesh::Arrays> all(static_cast<std::size_t>(place.mesh.devices()), each);
    const auto begun = Clock::now();
    HEDDLE_TRY_VOID(place.mesh.run(executable, std::move(all)));
    if (place.ranks != nullptr) HEDDLE_TRY_VOID(meet(*place.ranks));
    sum += seconds_since(begun);
  }
  return sum / count;
}

}  // namespace

Expected<double> seconds_of(const TrialPlace& place, const Executable& executable,
                            const std::vector<Type>& arguments) {
  constexpr int kLeast = 5, kMost = 400, kOfRanks = 60, kStretches = 3;
  constexpr double kEnough = 0.12;  // seconds
  std::vector<Array> each;
  for (const Type& type : arguments) each.emplace_back(type);
  if (place.ranks != nullptr) HEDDLE_TRY_VOID(meet(*place.ranks));
  const bool turns =
      take_turns(place.ranks != nullptr ? place.ranks->size() : place.mesh.devices());
  int in_a_row = 1;
  if (turns) {
    HEDDLE_TRY(const double once, seconds_of_runs(place, executable, each, 2));
    HEDDLE_TRY(in_a_row, runs_in_a_row(once, place.ranks));
  }
  double least = 1e30;
  const auto first = Clock::now();
  const auto goes_on = [&](int stretch) {
    if (turns) return stretch < kStretches;
    if (place.ranks != nullptr) return stretch < kOfRanks;  // as many on each
    return stretch < kLeast || (stretch < kMost && seconds_since(first) < kEnough);
  };
  for (int stretch = 0; goes_on(stretch); ++stretch) {
    HEDDLE_TRY(const double seconds, seconds_of_runs(place, executable, each, in_a_row));
    least = std::min(least, seconds);
  }
  return least;
}

}  // namespace heddle
