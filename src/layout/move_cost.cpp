#include "layout/move_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace heddle {

namespace {

// Messages round a ring between devices.
double ring(MoveKind kind, double n, double b, double alpha, double beta) {
  switch (kind) {
    case MoveKind::all_gather:
      return (n - 1) * (alpha + b * beta);
    case MoveKind::reduce_scatter:
    case MoveKind::all_to_all:
      return (n - 1) * (alpha + b / n * beta);
    case MoveKind::all_reduce:
      return 2 * (n - 1) * (alpha + b / n * beta);
    case MoveKind::broadcast:
      return (n - 1) * (alpha + b * beta);  // one holder serves all others
    case MoveKind::permute:
      return alpha + b * beta;
    default:
      return 0;
  }
}

// Butterflies between lanes: log2 n steps where n is a power of two.
double butterfly(MoveKind kind, std::int64_t lanes, double b, double alpha, double beta) {
  const double n = static_cast<double>(lanes);
  const double steps =
      std::has_single_bit(static_cast<std::uint64_t>(lanes)) ? std::log2(n) : n - 1;
  switch (kind) {
    case MoveKind::all_gather:
    case MoveKind::broadcast:
      return steps * alpha + (n - 1) * b * beta;
    case MoveKind::reduce_scatter:
      return steps * alpha + (n - 1) / n * b * beta;
    case MoveKind::all_to_all:
      return steps * (alpha + b / 2 * beta);
    case MoveKind::all_reduce:
      return steps * (alpha + b * beta);
    case MoveKind::permute:
      return alpha + b * beta;
    default:
      return 0;
  }
}

// Write, barrier, read, through a memory that all of the group see.
double through_memory(MoveKind kind, double n, double b, double alpha, double beta) {
  switch (kind) {
    case MoveKind::all_gather:
    case MoveKind::broadcast:
      return 2 * alpha + n * b * beta;
    case MoveKind::reduce_scatter:
    case MoveKind::all_to_all:
      return 2 * alpha + 2 * (n - 1) / n * b * beta;
    case MoveKind::all_reduce:
      return std::min(2 * alpha + n * b * beta, 4 * alpha + 4 * (n - 1) / n * b * beta);
    case MoveKind::permute:
      return 2 * alpha + 2 * b * beta;
    default:
      return 0;
  }
}

}  // namespace

double collective_seconds(MoveKind kind, const Hop& hop, double bytes) {
  const double beta = 1 / hop.link.bandwidth;
  const double n = static_cast<double>(hop.extent);
  switch (hop.medium) {
    case Medium::network:
      return ring(kind, n, bytes, hop.link.latency, beta);
    case Medium::shuffle:
      return butterfly(kind, hop.extent, bytes, hop.link.latency, beta);
    default:
      return through_memory(kind, n, bytes, hop.link.latency, beta);
  }
}

double all_to_all_seconds(std::span<const Hop> hops, double bytes) {
  if (hops.size() == 1) return collective_seconds(MoveKind::all_to_all, hops[0], bytes);
  std::vector<Hop> slowest_first(hops.begin(), hops.end());
  std::stable_sort(slowest_first.begin(), slowest_first.end(),
                   [](const Hop& a, const Hop& b) { return a.link.bandwidth < b.link.bandwidth; });
  double all = 1;
  for (const Hop& h : hops) all *= static_cast<double>(h.extent);
  double seconds = 0;
  double faster = all;
  for (const Hop& h : slowest_first) {
    const double n = static_cast<double>(h.extent);
    faster /= n;
    const double peers = (n - 1) * faster;
    const double messages = h.medium == Medium::network ? peers : std::min(peers, 2.0);
    seconds += messages * h.link.latency + peers * bytes / all / h.link.bandwidth;
  }
  return seconds;
}

double gather_seconds(std::span<const Hop> hops, double bytes) {
  double seconds = 0;
  for (const Hop& h : hops) {
    seconds += collective_seconds(MoveKind::all_gather, h, bytes);
    bytes *= static_cast<double>(h.extent);
  }
  return seconds;
}

double message_seconds(std::span<const Hop> hops, double bytes) {
  double seconds = 0;
  for (const Hop& h : hops)
    seconds = std::max(seconds, collective_seconds(MoveKind::permute, h, bytes));
  return seconds;
}

std::int64_t collective_received(MoveKind kind, std::int64_t n, std::int64_t bytes) {
  switch (kind) {
    case MoveKind::all_gather:
      return (n - 1) * bytes;
    case MoveKind::reduce_scatter:
    case MoveKind::all_to_all:
      return bytes - bytes / n;
    case MoveKind::all_reduce:
      return 2 * (bytes - bytes / n);
    case MoveKind::permute:
    case MoveKind::broadcast:
      return bytes;
    default:
      return 0;
  }
}

}  // namespace heddle
