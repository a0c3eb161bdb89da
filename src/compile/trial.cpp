#include "compile/trial.h"

#include <algorithm>
#include <thread>

#include "heddle/ranks.h"

namespace heddle {

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

Expected<double> seconds_of(const TrialPlace& place, const Executable& executable,
                            const std::vector<Type>& arguments) {
  constexpr int kLeast = 5, kMost = 400, kOfRanks = 60;
  constexpr double kEnough = 0.25;  // seconds
  const int devices = place.ranks != nullptr ? place.ranks->size() : place.mesh.devices();
  const bool take_turns = devices > static_cast<int>(std::thread::hardware_concurrency());
  const int in_a_row = take_turns ? 6 : 1;
  std::vector<Array> each;
  for (const Type& type : arguments) each.emplace_back(type);
  double least = 1e30;
  const auto first = Clock::now();
  const auto goes_on = [&](int stretch) {
    if (place.ranks != nullptr) return stretch * in_a_row < kOfRanks;  // as many on each
    return stretch < kLeast || (stretch < kMost && seconds_since(first) < kEnough);
  };
  if (place.ranks != nullptr) HEDDLE_TRY_VOID(meet(*place.ranks));
  for (int stretch = 0; goes_on(stretch); ++stretch) {
    double sum = 0;
    for (int run = 0; run < in_a_row; ++run) {
      std::vector<ThreadMesh::Arrays> all(static_cast<std::size_t>(place.mesh.devices()), each);
      const auto begun = Clock::now();
      HEDDLE_TRY_VOID(place.mesh.run(executable, std::move(all)));
      if (place.ranks != nullptr) HEDDLE_TRY_VOID(meet(*place.ranks));
      sum += seconds_since(begun);
    }
    least = std::min(least, sum / in_a_row);
  }
  return least;
}

}  // namespace heddle
