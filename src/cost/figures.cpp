#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>

#include "base/json.h"
#include "cost/machine_file.h"
#include "heddle/cost.h"
#include "heddle/thread_pool.h"

namespace heddle {

namespace {

// The part of a cache that a plan may fill: code, stacks and other data are in it too.
constexpr std::int64_t kCacheDivisor = 2;
// Of machines that nobody has measured: the memory of 64 cores is about eight times as fast as that
// of two; and the last cache has about this much for each core.
constexpr double kMemoryGrowth = 0.6;
constexpr std::int64_t kFarCachePerWorker = 1 << 20;

std::int64_t cache_bytes(int level, std::int64_t otherwise) {
  const long size = sysconf(level);
  return size > 0 ? size : otherwise;
}

// What the system says of the last cache of the first core; 0 where it says nothing. Of some
// processors the C library knows only what the whole package has, cores of others included.
struct LastCache {
  std::int64_t bytes = 0, cores = 0;  // that share it

  LastCache() {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index3/";
    char unit = ' ';
    std::ifstream(folder + "size") >> bytes >> unit;  // "32768K"
    if (unit == 'K') bytes <<= 10;
    if (unit == 'M') bytes <<= 20;
    std::ifstream list(folder + "shared_cpu_list");
    std::int64_t first = 0, last = 0;  // "0-7,64-71"
    for (char comma = ','; comma == ',' && list >> first; list >> comma) {
      last = first;
      if (list.peek() == '-' && list.ignore()) list >> last;
      cores += last - first + 1;
      comma = 0;
    }
  }
};

// The last caches of all cores: each belongs to a few of them.
std::int64_t last_caches_bytes() {
  const LastCache one;
  if (one.bytes <= 0 || one.cores <= 0) return cache_bytes(_SC_LEVEL3_CACHE_SIZE, 0);
  return one.bytes * std::max(1L, sysconf(_SC_NPROCESSORS_CONF) / one.cores);
}

int vector_bytes() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return 64;
  return __builtin_cpu_supports("avx2") ? 32 : 16;
#else
  return 16;
#endif
}

// What was measured, and under which name it is kept.
struct Measured {
  const char* key;
  double MachineFigures::* figure;
};
constexpr Measured kMeasured[] = {{"copy_rate", &MachineFigures::copy_rate},
                                  {"worker_copy_rate", &MachineFigures::worker_copy_rate},
                                  {"near_rate", &MachineFigures::near_rate},
                                  {"launch_seconds", &MachineFigures::launch_seconds},
                                  {"light_rate", &MachineFigures::light_rate},
                                  {"heavy_rate", &MachineFigures::heavy_rate}};

constexpr const char* kMachineFile = "machine.json";

// "gpu_nvidia_h200.json"
std::string gpu_file(const std::string& model) {
  std::string name = "gpu_";
  for (const unsigned char c : model)
    name += static_cast<char>(std::isalnum(c) != 0 ? std::tolower(c) : '_');
  return name + ".json";
}

// Figures of another machine, or a torn file, are as good as none.
void take_kept(MachineFigures& m, const std::string& name, const std::string& machine) {
  const Json json = kept_json(name, machine);
  for (const Measured& measured : kMeasured)
    if (const double kept = kept_number(json, measured.key); kept > 0) m.*measured.figure = kept;
}

}  // namespace

MachineFigures default_figures(int workers) {
  MachineFigures m;
  const double more = workers / static_cast<double>(m.workers);
  // Memory has a channel or two for every few cores, and the last cache a part for each.
  m.copy_rate = std::min(workers * m.worker_copy_rate, m.copy_rate * std::pow(more, kMemoryGrowth));
  m.far_cache = std::max(m.far_cache, workers * kFarCachePerWorker);
  m.workers = workers;
  return m;
}

MachineFigures figures_of_this_machine() {
  MachineFigures m = default_figures(ThreadPool::shared().threads());
  m.near_cache = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 2 * m.near_cache) / kCacheDivisor;
  if (const std::int64_t last = last_caches_bytes(); last > 0) m.far_cache = last / kCacheDivisor;
  m.vector_bytes = vector_bytes();
  take_kept(m, kMachineFile, machine_name());
  return m;
}

// The others run at the same time, and have their part of what is shared.
MachineFigures figures_of_this_machine(int workers) {
  MachineFigures m = figures_of_this_machine();
  if (workers >= m.workers) return m;
  const double share = static_cast<double>(workers) / m.workers;
  m.copy_rate *= share;
  m.far_cache = static_cast<std::int64_t>(static_cast<double>(m.far_cache) * share);
  m.workers = workers;
  return m;
}

namespace {

// As it says of itself.
MachineFigures whole_gpu(const GpuSizes& gpu) {
  constexpr int kBlocks = 4;                       // of a multiprocessor, at the same time
  constexpr double kReached = 0.86;                // of the memory's rate on paper
  constexpr double kLanes = 128, kSlowLanes = 16;  // additions and exponentials a clock
  constexpr double kNearBytes = 128;               // a clock, of shared memory
  MachineFigures m;
  m.workers = kBlocks * gpu.multiprocessors;
  m.near_cache = gpu.shared_bytes / kBlocks;
  m.far_cache = gpu.far_cache;
  m.copy_rate = kReached * gpu.memory_rate;
  m.worker_copy_rate = 4 * m.copy_rate / m.workers;
  m.near_rate = kNearBytes * gpu.clock / kBlocks;
  m.launch_seconds = 3e-6;
  m.light_rate = kLanes * gpu.clock / kBlocks;
  m.heavy_rate = kSlowLanes * gpu.clock / kBlocks;
  m.rounding = 0.5;  // mostly where numbers are kept, and two at a time
  m.vector_bytes = 16;
  m.counts_all = true;
  m.sweeps = true;
  return m;
}

}  // namespace

MachineFigures figures_of_gpu(const GpuSizes& gpu, int sharers) {
  MachineFigures m = whole_gpu(gpu);
  if (!gpu.model.empty()) take_kept(m, gpu_file(gpu.model), gpu.model);
  const int parts = std::max(sharers, 1);
  m.workers = std::max(1, m.workers / parts);
  m.far_cache /= parts;
  m.copy_rate /= parts;
  return m;
}

namespace {

Verdict keep(const MachineFigures& m, const std::string& name, const std::string& machine) {
  Json json = {{"machine", machine}};
  for (const Measured& measured : kMeasured) json[measured.key] = m.*measured.figure;
  return keep_json(name, json);
}

}  // namespace

Verdict keep_figures(const MachineFigures& m) { return keep(m, kMachineFile, machine_name()); }
Verdict keep_gpu_figures(const std::string& model, const MachineFigures& m) {
  return keep(m, gpu_file(model), model);
}

std::string machine_name() {
  std::string model = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) {
      model = line.substr(std::min(line.size(), line.find(':') + 2));
      break;
    }
  return fmt::format("{}, {} threads", model, ThreadPool::shared().threads());
}

}  // namespace heddle
