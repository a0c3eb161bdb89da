// Where values lie: buffers that are never alive at the same time share bytes of one arena.
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::runtime {

// A piece of memory that is in use from step `first` to step `last`, both included.
struct PlannedBuffer {
  std::int64_t bytes = 0;
  std::int64_t first = 0, last = 0;
  std::int64_t offset = 0;  // what the plan decides; a multiple of kBufferAlignment
};
inline constexpr std::int64_t kBufferAlignment = 64;

// Sets the offsets; gives the size of the arena. Deterministic.
std::int64_t plan_memory(std::vector<PlannedBuffer>& buffers);

// The most bytes that are in use at one step: no arena can be smaller.
std::int64_t least_memory(const std::vector<PlannedBuffer>& buffers);

// The step at which they are, and the buffers in use there, largest first.
struct MemoryPeak {
  std::int64_t step = 0, bytes = 0;
  std::vector<std::size_t> buffers;
};
MemoryPeak memory_peak(const std::vector<PlannedBuffer>& buffers);

}  // namespace heddle::runtime
