// Windows of a dimension that is dealt out in blocks: how far devices reach beyond their own.
#pragma once

#include "heddle/split.h"

namespace heddle {

struct Window {
  std::size_t dim = 0;
  SplitAxes axes;          // that the dimension is dealt out over
  std::int64_t size = 0;   // of the whole dimension
  std::int64_t begin = 0;  // of device 0
  std::int64_t step = 0;   // from one device to the next
  std::int64_t count = 0;  // elements of one device's window
  ValueId fill = kNone;    // outside of the dimension, in the device's program; none: anything
  std::int64_t every = 1;  // a step for so many devices, rounded down between them
};

struct WindowReach {
  std::int64_t low = 0, high = 0;
  bool near = false;  // the neighbours have it, and it is less than the whole
};
WindowReach reach_of(const Window& window);
// Of the device at a position along the axes.
std::int64_t start_of(const Window& window, std::int64_t position);

}  // namespace heddle
