#include "cost/rates.h"

#include <algorithm>

#include "heddle/cost.h"

namespace heddle::cost {

namespace {

// Processors compute while they wait for memory, but not all of the time: what is less hides by
// half, as measured.
constexpr double kSeen = 0.5;

}  // namespace

MachineFigures of_two_workers(MachineFigures machine) {
  constexpr int kTwo = 2;
  if (machine.counts_all) return machine;
  const double drawn = kTwo * machine.worker_copy_rate;
  machine.copy_rate = machine.workers < kTwo ? drawn : std::min(machine.copy_rate, drawn);
  machine.far_cache = std::min(machine.far_cache, MachineFigures{}.far_cache);
  machine.workers = kTwo;
  return machine;
}

MachineFigures of_many_workers(MachineFigures machine) {
  constexpr int kMany = 192;
  if (machine.counts_all) return machine;
  const MachineFigures many = default_figures(kMany);
  machine.workers = many.workers;
  machine.copy_rate = many.copy_rate;
  machine.far_cache = many.far_cache;
  return machine;
}

void Traffic::add_value(double bytes, const MachineFigures& machine) {
  const double share =
      std::min(1.0, bytes / (kShareOfCache * static_cast<double>(machine.far_cache)));
  memory += bytes * share;
  cached += bytes * (1 - share);
}

// A few workers are enough to keep the memory busy; more only share it.
double traffic_seconds(const Traffic& traffic, double workers, const MachineFigures& machine) {
  return traffic.memory / std::min(machine.copy_rate, workers * machine.worker_copy_rate) +
         traffic.cached / (kShareOfNearRate * machine.near_rate * workers);
}

double work_seconds(const Instructions& all, const MachineFigures& machine) {
  return all.light / machine.light_rate + all.heavy / machine.heavy_rate;
}

double busy_workers(double alone, double parts, const MachineFigures& machine) {
  return std::clamp(alone / kWorthSharing, 1.0,
                    std::max(1.0, std::min<double>(parts, machine.workers)));
}

double overlapped(double memory, double work) {
  return std::max(memory, work) + kSeen * std::min(memory, work);
}

}  // namespace heddle::cost
