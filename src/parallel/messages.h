// Seconds of messages between devices: as collectives of all of them were timed, else by the links
// of the mesh.
#pragma once

#include "heddle/split.h"

namespace heddle {

// A collective among so many devices, as it was timed; 0 where it was not. `bytes` is what a device
// has before it.
double timed_seconds(const Mesh& mesh, CollectiveKind kind, std::int64_t members, double bytes);
// One message to a partner along the slowest of the axes.
double link_seconds(const Mesh& mesh, const SplitAxes& axes, std::int64_t bytes);
// All parts of so many bytes on every device of the axes.
double gather_seconds(const Mesh& mesh, const SplitAxes& axes, double bytes);
// The least bandwidth along the axes; 0 where there are none.
double least_bandwidth(const Mesh& mesh, const SplitAxes& axes);
// The least along any axis of the mesh; that of a device's memory where it has one device.
double least_bandwidth(const Mesh& mesh);

}  // namespace heddle
