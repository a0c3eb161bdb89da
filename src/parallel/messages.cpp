#include "parallel/messages.h"

#include <algorithm>

namespace heddle {

namespace {

const Link& link_of(const Mesh& mesh, const SplitDigit& digit) {
  return mesh.axes()[static_cast<std::size_t>(digit.axis)].link;
}

}  // namespace

double link_seconds(const Mesh& mesh, const SplitAxes& axes, std::int64_t bytes) {
  double seconds = 0;
  for (const SplitDigit& d : axes) {
    const Link& link = link_of(mesh, d);
    seconds = std::max(seconds,
                       link.latency + static_cast<double>(bytes) / std::max(link.bandwidth, 1.0));
  }
  return seconds;
}

double gather_seconds(const Mesh& mesh, const SplitAxes& axes, double bytes) {
  double seconds = 0;
  for (const SplitDigit& d : axes) {
    const Link& link = link_of(mesh, d);
    seconds +=
        link.latency + bytes * static_cast<double>(d.extent - 1) / std::max(link.bandwidth, 1.0);
    bytes *= static_cast<double>(d.extent);
  }
  return seconds;
}

double least_bandwidth(const Mesh& mesh, const SplitAxes& axes) {
  double least = 0;
  for (const SplitDigit& d : axes) {
    const double bandwidth = link_of(mesh, d).bandwidth;
    least = least == 0 ? bandwidth : std::min(least, bandwidth);
  }
  return least;
}

}  // namespace heddle
