// DirectStep: a recorded call as somebody else does it at once, on memory. It is how a window runs
// whose code is not there yet: as NumPy, call by call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "heddle/array.h"

namespace heddle {

// A version of a store within a window; calls that are done one after the other keep one for each.
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = UINT32_MAX;

// The memory of a window that runs so. Who makes steps makes it, too, and knows what it is.
class DirectMemory {
 public:
  virtual ~DirectMemory() = default;
  // What a slot holds before the first step.
  virtual void start(Slot slot, Array array) = 0;
  // What it holds after the last one: an array that nobody else has.
  virtual Array take(Slot slot) = 0;
  // It is not read any more.
  virtual void drop(Slot slot) = 0;
  // What it was to hold cannot be had: from here on a step that uses it throws that.
  virtual void lose(Slot slot, const std::string& why) = 0;
};

class DirectStep {
 public:
  virtual ~DirectStep() = default;
  // Throws where it fails.
  virtual void run(DirectMemory& memory, Slot target) const = 0;
  // That it reads and writes, about.
  virtual std::int64_t bytes() const = 0;
};
using DirectStepPtr = std::unique_ptr<DirectStep>;

}  // namespace heddle
