#include "kernel/cuda_ways.h"

#include <algorithm>

#include "kernel/cuda_resident.h"

namespace heddle {

namespace {

constexpr std::size_t kWaysToTime = 3;
constexpr int kLeastOfBlock = 64, kMostOfBlock = 1024, kMostOfCluster = 8;

CudaRowWay way_of(const CudaResident& resident) {
  return {resident.group, resident.cluster, resident.slots > 0};
}

// Instructions of a row: for each point, for each thread and sum, and for threads that have nothing
// to do; more where too little is under way to keep memory busy.
double expected(const CudaResident& resident) {
  constexpr double kOfPoint = 12, kOfThread = 60, kToBeBusy = 32 << 10;
  const double threads = static_cast<double>(resident.group) * resident.cluster;
  const double points = threads * static_cast<double>(resident.turns() * resident.vector);
  const double under_way = static_cast<double>(resident.at_once) * resident.threads *
                           static_cast<double>(resident.turns() * resident.vector) * 2 *
                           std::max(resident.slots, 1);
  return (points * kOfPoint + threads * kOfThread) * std::max(1.0, kToBeBusy / under_way);
}

// The phase with the most rows that stay with whole warps.
std::optional<CudaResident> rows_of(const Kernel& kernel, const CudaLimits& limits) {
  std::optional<CudaResident> most;
  for (const Phase& phase : kernel.phases) {
    auto resident = cuda_resident(kernel, phase, limits);
    if (!resident || !resident->in_registers || resident->group < kLeastOfBlock) continue;
    if (!most || phase.blocks() > most->phase.blocks()) most = std::move(resident);
  }
  return most;
}

std::vector<CudaRowWay> neighbours(const CudaRowWay& way) {
  std::vector<CudaRowWay> all;
  const auto add = [&](int threads, int cluster, bool flies) {
    const int most = flies ? kMostOfBlock : kMostOfBlock / 2;
    if (threads >= kLeastOfBlock && threads <= most && cluster >= 1 && cluster <= kMostOfCluster)
      all.push_back({threads, cluster, flies});
  };
  add(way.threads / 2, way.cluster, way.flies);
  add(way.threads * 2, way.cluster, way.flies);
  if (way.cluster > 1) {
    add(way.threads, way.cluster / 2, way.flies);
    add(way.threads, way.cluster * 2, way.flies);
  } else {
    add(way.threads, way.cluster, !way.flies);
  }
  return all;
}

}  // namespace

std::vector<CudaLimits> cuda_ways(const Kernel& kernel, const CudaLimits& limits) {
  std::vector<CudaLimits> ways{limits};
  const auto own = rows_of(kernel, limits);
  if (!own) return ways;
  struct Candidate {
    CudaLimits limits;
    double expected = 0;
  };
  std::vector<Candidate> candidates;
  const std::int64_t scratch = cuda_plan(kernel, limits).scratch_bytes;
  for (const CudaRowWay& way : neighbours(way_of(*own))) {
    if (way.cluster > 1 && !limits.clusters) continue;
    CudaLimits asked = limits;
    asked.rows = way;
    const auto made = rows_of(kernel, asked);
    // It may not be possible so.
    if (!made || way_of(*made) != way || cuda_plan(kernel, asked).scratch_bytes != scratch)
      continue;
    candidates.push_back({asked, expected(*made)});
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::expected);
  for (const Candidate& candidate : candidates)
    if (ways.size() < kWaysToTime) ways.push_back(candidate.limits);
  return ways;
}

}  // namespace heddle
