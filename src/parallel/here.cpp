#include "parallel/here.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/cache_directory.h"
#include "base/file.h"
#include "cost/rates.h"
#include "cost/usual_figures.h"
#include "frontend/array_file.h"
#include "heddle/cost.h"
#include "heddle/hash.h"

namespace heddle {

namespace {

// Figures belong to a processor and to so many devices, however many threads each of them has.
std::filesystem::path kept_file(const std::filesystem::path& directory, std::int64_t devices,
                                DevicesAs as) {
  const std::string name = machine_name();
  const std::uint64_t number = hash_combine(0, std::string_view(name).substr(0, name.rfind(',')));
  return directory / fmt::format("cluster-{:016x}-{}{}.json", number, devices,
                                 as == DevicesAs::ranks ? "-ranks" : "");
}

std::int64_t cores() { return std::max(1, figures_of_this_machine().workers); }

}  // namespace

Cluster default_cluster_here(std::int64_t devices, const MachineFigures& machine) {
  // Devices beyond the number of cores share them.
  const double share = static_cast<double>(machine.workers) / static_cast<double>(devices);
  Cluster cluster;
  cluster.name = "here";
  cluster.about = "this machine, by its figures";
  const std::int64_t bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
  cluster.memory = std::max<std::int64_t>(1, bytes / devices);
  cluster.device = {.memory_rate = std::min(machine.copy_rate / static_cast<double>(devices),
                                            machine.worker_copy_rate * std::max(1.0, share)),
                    .compute_rate = cost::kAdditionsOfAProduct * machine.light_rate * share,
                    .cache = static_cast<double>(machine.far_cache) / static_cast<double>(devices),
                    .cache_rate = cost::kShareOfNearRate * machine.near_rate * share,
                    .light_rate = machine.light_rate * share,
                    .heavy_rate = machine.heavy_rate * share,
                    .launch = machine.launch_seconds};
  cluster.levels = {{"device", devices, {cost::kMessageSeconds, machine.worker_copy_rate / 2}}};
  return cluster;
}

DevicesAs devices_of_this_process() {
  for (const char* variable : {"HEDDLE_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (std::getenv(variable) != nullptr) return DevicesAs::ranks;
  return DevicesAs::threads;
}

Expected<Cluster> cluster_here(std::int64_t devices, DevicesAs as) {
  const std::int64_t count = devices == 0 ? cores() : devices;
  if (const auto directory = cache_directory()) {
    const std::filesystem::path file = kept_file(*directory, count, as);
    std::error_code none;
    if (std::filesystem::exists(file, none))
      if (const auto text = frontend::read_bytes(file.string()))
        if (auto kept = parse_cluster(*text, file.string())) return kept;
  }
  return default_cluster_here(count, figures_of_this_machine());
}

Verdict keep_cluster_here(const Cluster& cluster, DevicesAs as) {
  const auto directory = cache_directory();
  if (!directory)
    return Reason{"there is no cache directory to keep the figures in: set HEDDLE_CACHE_DIR"};
  std::error_code error;
  std::filesystem::create_directories(*directory, error);
  return write_file(kept_file(*directory, cluster.devices(), as), cluster_text(cluster));
}

}  // namespace heddle
