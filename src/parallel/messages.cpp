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

double timed_seconds(const Mesh& mesh, CollectiveKind kind, std::int64_t members, double bytes) {
  // Who sends to whom makes no difference to one message.
  const bool was_timed = members == mesh.devices() || kind == CollectiveKind::permute;
  return was_timed ? timed_seconds(mesh.timed(), kind, bytes) : 0;
}

double link_seconds(const Mesh& mesh, const SplitAxes& axes, std::int64_t bytes) {
  if (const double timed =
          timed_seconds(mesh, CollectiveKind::permute, total(axes), static_cast<double>(bytes));
      timed > 0)
    return timed;
  return message_seconds(hops_of(mesh, axes), static_cast<double>(bytes));
}

double gather_seconds(const Mesh& mesh, const SplitAxes& axes, double bytes) {
  if (const double timed = timed_seconds(mesh, CollectiveKind::all_gather, total(axes), bytes);
      timed > 0)
    return timed;
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
