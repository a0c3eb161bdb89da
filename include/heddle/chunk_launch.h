// Chunk programs that a device runs by itself: one launch for all ranks that share it, which meet
// by flags in its memory.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heddle/dtype.h"
#include "heddle/layout.h"
#include "heddle/program.h"
#include "heddle/queue.h"

namespace heddle {

namespace chunks {
struct ChunkProgram;
}

struct ChunkWork {
  const chunks::ChunkProgram* program = nullptr;  // checked
  ReduceOp reduce = ReduceOp::sum;
  DType dtype = DType::f32;
  const Launch* finish =
      nullptr;                // of one kernel, which goes over the elements of a slice in order
  std::uint32_t sum = kNone;  // the slot in which that finds the sums
  std::int64_t grain = 1;     // elements of a block of it
};

// Addresses of one rank. Each is where element 0 is, or would be where a rank holds its slice.
struct ChunkAddresses {
  std::vector<DeviceAddress> buffers;  // of the program
  std::vector<DeviceAddress> kernel;   // of the kernel, by number
};

class ChunkLaunch {
 public:
  virtual ~ChunkLaunch() = default;
  // For all ranks, whose programs are in this order. `turn` counts the launches with this memory.
  virtual Verdict run(Queue& queue, std::span<const ChunkAddresses> ranks, DeviceAddress slots,
                      DeviceAddress flags, std::uint64_t turn) const = 0;
  // Where the buffers of the kernel of a launch lie.
  virtual std::vector<DeviceAddress> of_kernel(const Launch& launch,
                                               const DeviceAddress* slots) const = 0;
  // Whether sums need memory of their own.
  virtual bool keeps_sums() const = 0;
  virtual std::int64_t slot_bytes() const = 0;
  virtual std::int64_t flag_bytes() const = 0;  // zero before the first turn
};

}  // namespace heddle
