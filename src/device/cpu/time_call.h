// How long a call takes.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace heddle::cpu {

// Seconds of one call: the median of as many as fit into a short while.
inline double seconds_of(const std::function<void()>& call,
                         std::chrono::milliseconds at_least = std::chrono::milliseconds(120)) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  const auto end = Clock::now() + at_least;
  while (times.size() < 5 || (Clock::now() < end && times.size() < 2000)) {
    const auto start = Clock::now();
    call();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  return times[times.size() / 2];
}

}  // namespace heddle::cpu
