// The machine at hand as a cluster.
#pragma once

#include "heddle/cluster.h"
#include "heddle/machine.h"

namespace heddle {

// So many devices that share this machine, of which nothing has been measured but its figures.
Cluster default_cluster_here(std::int64_t devices, const MachineFigures& machine);

// As `heddle calibrate` measured it on this machine, else by its figures. 0: a device for each
// core.
Expected<Cluster> cluster_here(std::int64_t devices);
// Keeps it for cluster_here().
Verdict keep_cluster_here(const Cluster& cluster);

}  // namespace heddle
