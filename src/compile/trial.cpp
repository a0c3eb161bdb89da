#include "compile/trial.h"

#include <algorithm>

#include "heddle/ranks.h"

namespace heddle {

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

Expected<double> seconds_of(const TrialPlace& place, const Executable& executable,
                            const std::vector<Type>& arguments) {
  constexpr int kLeast = 3, kMost = 60, kOfRanks = 8, kStretch = 4;
  constexpr double kEnough = 0.2;  // seconds
  std::vector<Array> each;
  for (const Type& type : arguments) each.emplace_back(type);
  double least = 1e30;
  const auto first = Clock::now();
  const auto goes_on = [&](int stretch) {
    if (place.ranks != nullptr) return stretch < kOfRanks;  // as many on each
    return stretch < kLeast || (stretch < kMost && seconds_since(first) < kEnough);
  };
  if (place.ranks != nullptr) HEDDLE_TRY_VOID(meet(*place.ranks));
  for (int stretch = 0; goes_on(stretch); ++stretch) {
    double sum = 0;
    for (int run = 0; run < kStretch; ++run) {
      std::vector<ThreadMesh::Arrays> all(static_cast<std::size_t>(place.mesh.devices()), each);
      const auto begun = Clock::now();
      HEDDLE_TRY_VOID(place.mesh.run(executable, std::move(all)));
      if (place.ranks != nullptr) HEDDLE_TRY_VOID(meet(*place.ranks));
      sum += seconds_since(begun);
    }
    least = std::min(least, sum / kStretch);
  }
  return least;
}

}  // namespace heddle
