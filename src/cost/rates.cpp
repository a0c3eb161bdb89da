#include "cost/rates.h"

#include <algorithm>

namespace heddle::cost {

namespace {

// The part of the last cache that one value can count on: others are in it too.
constexpr double kShareOfCache = 0.25;
// What is in some cache is not always in the worker's own, which its rate is measured with.
constexpr double kShareOfNearRate = 0.5;
// Processors compute while they wait for memory, but not all of the time: what is less hides by
// half, as measured.
constexpr double kSeen = 0.5;

}  // namespace

double memory_seconds(double bytes, double workers, const MachineFigures& machine) {
  return bytes * machine.workers / (workers * machine.copy_rate);
}

double cached_seconds(double bytes, double workers, const MachineFigures& machine) {
  return bytes / (kShareOfNearRate * machine.near_rate * workers);
}

double traffic_seconds(double bytes, std::int64_t cache, double workers,
                       const MachineFigures& machine) {
  const double share = std::min(1.0, bytes / (kShareOfCache * static_cast<double>(cache)));
  return memory_seconds(bytes * share, workers, machine) +
         cached_seconds(bytes * (1 - share), workers, machine);
}

double work_seconds(const Instructions& all, const MachineFigures& machine) {
  return all.light / machine.light_rate + all.heavy / machine.heavy_rate;
}

double overlapped(double memory, double work) {
  return std::max(memory, work) + kSeen * std::min(memory, work);
}

}  // namespace heddle::cost
