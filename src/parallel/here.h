// The machine at hand as a cluster.
#pragma once

#include "heddle/cluster.h"
#include "heddle/machine.h"

namespace heddle {

// So many devices that share this machine, of which nothing has been measured but its figures.
Cluster default_cluster_here(std::int64_t devices, const MachineFigures& machine);

// How devices share the machine. What was measured of the ones is not that of the others.
enum class DevicesAs : std::uint8_t { threads, ranks };
// Ranks where a launcher has started this process as one of them.
DevicesAs devices_of_this_process();

// As `heddle calibrate` measured it on this machine, else by its figures. 0: a device for each
// core.
Expected<Cluster> cluster_here(std::int64_t devices, DevicesAs as);
// Keeps it for cluster_here().
Verdict keep_cluster_here(const Cluster& cluster, DevicesAs as);

}  // namespace heddle
