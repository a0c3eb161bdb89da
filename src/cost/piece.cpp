#include "cost/piece.h"

#include <algorithm>
#include <cmath>

namespace heddle::cost {

double piece_seconds(OpClass cls, const Piece& piece, const Mesh& mesh) {
  const double memory = piece.bytes / mesh.local_bandwidth();
  if (cls != OpClass::contract) return memory;
  // A step is a product and a sum.
  return std::max(memory, 2 * piece.steps / mesh.local_operations());
}

// Every element goes through the device's memory once for each time that runs are merged.
double sort_seconds(double bytes, std::int64_t length, const Mesh& mesh) {
  const double merges = std::log2(static_cast<double>(std::max<std::int64_t>(length, 2)));
  return 2 * merges * bytes / mesh.local_bandwidth();
}

}  // namespace heddle::cost
