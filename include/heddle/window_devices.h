// WindowDevices: the devices that windows of recorded calls run on, where these are more than one;
// threads of this process, or ranks, of which this process is one. Arrays are dealt out by their
// sizes.
#pragma once

#include <memory>
#include <vector>

#include "heddle/executable.h"
#include "heddle/placement.h"
#include "heddle/target.h"
#include "heddle/thread_mesh.h"

namespace heddle {

// An array in parts: those of the devices that are here.
struct SpreadArray {
  PlacedValue placed;
  std::vector<Array> parts;
};
using SpreadPtr = std::shared_ptr<const SpreadArray>;

// Whole in host memory, or in parts.
struct WindowValue {
  Array whole;
  SpreadPtr spread;
  const Type& type() const { return spread ? spread->placed.type() : whole.type(); }
};

// How many devices windows are dealt out over, and which of them this is.
struct WindowMesh {
  int count = 1;
  bool are_ranks = false;
  int rank = 0;
  std::int64_t least = 0;  // elements that an array must have to be worth it
  // Says in the target how arguments and results of a window lie: each along its longest dimension.
  // The target stays one for one device where nothing is worth it. Takes no longer for more
  // devices.
  void place(Target& target, const std::vector<Type>& arguments,
             const std::vector<Type>& results) const;
};

class WindowDevices {
 public:
  static constexpr std::int64_t kLeastElements = 1 << 16;
  // Threads of this process. Only windows with an array of at least so many elements are dealt out.
  explicit WindowDevices(int threads, std::int64_t least = kLeastElements);
  // The ranks that this process is one of.
  explicit WindowDevices(Transport& ranks, std::int64_t least = kLeastElements);

  int count() const { return count_; }
  bool are_ranks() const { return ranks_ != nullptr; }
  // How many an array of so many elements is dealt out over.
  int count_for(std::int64_t elements) const { return elements < least_ ? 1 : count_; }

  void place(Target& target, const std::vector<Type>& arguments,
             const std::vector<Type>& results) const;
  // Runs what was compiled for such a target.
  Expected<std::vector<WindowValue>> run(const Executable& executable,
                                         std::vector<WindowValue> arguments);
  // All of it, here; ranks call it together.
  Expected<Array> whole(const SpreadArray& array) const;

 private:
  Expected<std::vector<Array>> parts_for(const PlacedValue& wanted, const WindowValue& value) const;

  int count_ = 1;
  std::int64_t least_ = kLeastElements;
  Transport* ranks_ = nullptr;
  std::unique_ptr<ThreadMesh> threads_;
};

}  // namespace heddle
