#include "parallel/window.h"

#include <algorithm>

namespace heddle {

std::int64_t start_of(const Window& window, std::int64_t position) {
  return window.begin + position * window.step / window.every;
}

// Windows reach furthest out of their blocks at the first or the last device.
WindowReach reach_of(const Window& window) {
  const std::int64_t pieces = total(window.axes);
  const std::int64_t block = (window.size + pieces - 1) / pieces;
  const std::int64_t last = start_of(window, pieces - 1);
  const std::int64_t rounded = window.every > 1 ? 1 : 0;  // between them, perhaps one further
  WindowReach reach;
  reach.low = std::max<std::int64_t>({-window.begin, (pieces - 1) * block - last, 0}) + rounded;
  reach.high = std::max<std::int64_t>(
                   {window.begin + window.count - block, last + window.count - pieces * block, 0}) +
               rounded;
  const std::int64_t hops = (reach.low + block - 1) / block + (reach.high + block - 1) / block;
  reach.near = hops <= 2 && reach.low + reach.high < (pieces - 1) * block;
  return reach;
}

}  // namespace heddle
