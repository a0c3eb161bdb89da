#include "parallel/messages.h"

#include <algorithm>

#include "layout/move_cost.h"

namespace heddle {

namespace {

std::vector<Hop> hops_of(const Mesh& mesh, const SplitAxes& axes) {
  std::vector<Hop> hops;
  for (const SplitDigit& d : axes) {
    const MeshAxis& axis = mesh.axes()[static_cast<std::size_t>(d.axis)];
    hops.push_back({d.extent, axis.link, axis.medium});
  }
  return hops;
}

}  // namespace

double link_seconds(const Mesh& mesh, const SplitAxes& axes, std::int64_t bytes) {
  return message_seconds(hops_of(mesh, axes), static_cast<double>(bytes));
}

double gather_seconds(const Mesh& mesh, const SplitAxes& axes, double bytes) {
  return gather_seconds(hops_of(mesh, axes), bytes);
}

double least_bandwidth(const Mesh& mesh, const SplitAxes& axes) {
  double least = 0;
  for (const Hop& hop : hops_of(mesh, axes))
    least = least == 0 ? hop.link.bandwidth : std::min(least, hop.link.bandwidth);
  return least;
}

double least_bandwidth(const Mesh& mesh) {
  double least = mesh.local_bandwidth();
  for (const MeshAxis& axis : mesh.axes())
    if (axis.size > 1) least = std::min(least, axis.link.bandwidth);
  return least;
}

}  // namespace heddle
