#include <algorithm>
#include <cmath>

#include "cost/rates.h"
#include "heddle/step_work.h"

namespace heddle {

namespace {

double per(double count, double rate) { return rate > 0 ? count / rate : 0; }

// Seconds of one worker.
double work_seconds(const KernelWork& work, const StepFigures& device) {
  const double computed = per(work.light, device.light_rate) + per(work.heavy, device.heavy_rate);
  return cost::overlapped(per(work.accesses, device.access_rate), computed) +
         per(work.lanes, device.lane_rate) + per(work.converted, device.convert_rate) +
         per(work.runs, device.run_rate) + work.starts * cost::kStageSeconds;
}

// What the first cache holds costs no more than its loads and stores. Of what goes round through a
// cache that is too small for it, as much is there as fits.
double traffic_seconds(double bytes, bool by_one, const StepFigures& device, double footprint) {
  const auto beyond = [&](double cache) { return footprint > cache ? 1 - cache / footprint : 0.0; };
  const double from_memory = beyond(device.far_cache);
  const double from_far = std::max(0.0, beyond(device.near_cache) - from_memory);
  const double from_near = std::max(0.0, beyond(device.first_cache) - from_far - from_memory);
  const double share = by_one ? std::max(1.0, device.workers) : 1;  // of what all workers get
  return share *
             (per(bytes * from_near, device.near_rate) + per(bytes * from_far, device.far_rate)) +
         per(bytes * from_memory, device.memory_rate);
}

}  // namespace

KernelWork& KernelWork::operator+=(const KernelWork& other) {
  light += other.light;
  accesses += other.accesses;
  heavy += other.heavy;
  lanes += other.lanes;
  converted += other.converted;
  runs += other.runs;
  starts += other.starts;
  return *this;
}

double computed_columns(const ProductWork& p) {
  constexpr double kVector = 16;  // of f32
  const double lanes = kVector / p.width;
  return p.n > 1 ? std::ceil(p.n / lanes) * lanes : p.n;
}

double product_seconds(const ProductWork& p, const StepFigures& device) {
  const double n = computed_columns(p);
  const double one = device.product_call +
                     per(p.width * (p.m * p.k + p.k * p.n), device.pack_rate) +
                     per(p.width * p.m * n, device.result_rate) +
                     per(2 * p.width * p.m * n * p.k, device.product_rate);
  if (p.parts <= 1 || device.workers <= 1) return p.count * one;
  const double worth = 1 + (std::min(p.parts, device.workers) - 1) *
                               (device.products_together - 1) / (device.workers - 1);
  return device.wake + p.count * one / worth;
}

double step_seconds(const StepWork& step, const StepFigures& device, double footprint) {
  double work = work_seconds(step.alone, device) +
                work_seconds(step.shared, device) / std::max(1.0, device.together);
  for (const ProductWork& product : step.products) work += product_seconds(product, device);
  const bool by_one = step.launches == 0;
  const double launches = device.workers > 1 ? step.launches * device.wake : 0;
  return device.call + launches +
         cost::overlapped(traffic_seconds(step.bytes, by_one, device, footprint), work);
}

}  // namespace heddle
