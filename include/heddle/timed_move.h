// Collectives that were timed, by kind and size.
#pragma once

#include <span>

#include "heddle/collective_kind.h"

namespace heddle {

// Among all devices: what a device had before it.
struct TimedMove {
  CollectiveKind kind = CollectiveKind::none;
  double bytes = 0, seconds = 0;
  friend bool operator==(const TimedMove&, const TimedMove&) = default;
};

// Between two sizes that were timed as on a line; 0 where the kind was not. They come by size.
double timed_seconds(std::span<const TimedMove> moves, CollectiveKind kind, double bytes);

}  // namespace heddle
