#include "heddle/timed_move.h"

#include <algorithm>

namespace heddle {

double timed_seconds(std::span<const TimedMove> moves, CollectiveKind kind, double bytes) {
  const TimedMove *below = nullptr, *above = nullptr, *before = nullptr;
  for (const TimedMove& move : moves) {  // by size
    if (move.kind != kind) continue;
    if (above == nullptr && move.bytes >= bytes) above = &move;
    if (move.bytes < bytes) {
      before = below;
      below = &move;
    }
  }
  if (below == nullptr) return above == nullptr ? 0 : above->seconds;
  const auto line = [&](const TimedMove& a, const TimedMove& b) {
    const double slope = (b.seconds - a.seconds) / (b.bytes - a.bytes);
    return std::max(a.seconds + slope * (bytes - a.bytes), 0.0);
  };
  if (above != nullptr) return line(*below, *above);
  // Larger than all that were timed: as it went on last, or in proportion.
  if (before != nullptr && below->seconds > before->seconds) return line(*before, *below);
  return below->seconds * bytes / below->bytes;
}

}  // namespace heddle
