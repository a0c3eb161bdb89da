#include "cost/piece.h"

#include <algorithm>

#include "base/plain_math.h"
#include "cost/rates.h"

namespace heddle::cost {

void Piece::add_value(double size, const DeviceFigures& device) {
  const double share =
      device.cache > 0 ? std::min(1.0, size / (kShareOfCache * device.cache)) : 1.0;
  bytes += size * share;
  cached += size * (1 - share);
}

double piece_seconds(OpClass cls, const Piece& piece, const Mesh& mesh) {
  const DeviceFigures& device = mesh.device();
  double memory = piece.bytes / device.memory_rate;
  if (piece.cached > 0 && device.cache_rate > 0) memory += piece.cached / device.cache_rate;
  const double launch = piece.is_launched ? device.launch : 0;
  // A step is a product and a sum.
  if (cls == OpClass::contract)
    return launch + std::max(memory, 2 * piece.steps / device.compute_rate);
  double work = 0;
  if (device.light_rate > 0) work += piece.work.light / device.light_rate;
  if (device.heavy_rate > 0) work += piece.work.heavy / device.heavy_rate;
  return launch + overlapped(memory, work);
}

// Every element goes through the device's memory once for each time that runs are merged.
double sort_seconds(double bytes, std::int64_t length, const Mesh& mesh) {
  const double merges =
      plain_log(static_cast<double>(std::max<std::int64_t>(length, 2))) / kLogOfTwo;
  return 2 * merges * bytes / mesh.local_bandwidth();
}

}  // namespace heddle::cost
