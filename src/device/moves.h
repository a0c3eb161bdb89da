// What a queue can do with memory of its device that ranks on that device exchange by: copies of
// runs, and sums. A queue that is a DeviceMoves too needs no host for collectives of such ranks.
#pragma once

#include <span>

#include "heddle/dtype.h"
#include "heddle/layout.h"
#include "heddle/queue.h"

namespace heddle {

class DeviceMoves {
 public:
  virtual ~DeviceMoves() = default;

  // `count` runs of so many bytes, on both sides at steps of their own.
  struct Copy {
    DeviceAddress from = {}, to = {};
    std::int64_t run = 0, count = 1, from_step = 0, to_step = 0;
  };
  virtual Verdict copy_runs(const Copy& copy) = 0;

  // out[i] = parts[0][i] op parts[1][i] op ..., from the left. A part has `count` runs of so many
  // elements, `step` apart; `out` is dense, and may be a part that is.
  struct Combination {
    ReduceOp op = ReduceOp::sum;
    DType dtype = DType::f32;
    std::span<const DeviceAddress> parts = {};
    DeviceAddress out = {};
    std::int64_t run = 0, count = 1, step = 0;
  };
  // With the bits that transports between hosts give (comm/combine.h).
  virtual bool can_combine(ReduceOp op, DType dtype, std::size_t parts) const = 0;
  virtual Verdict combine(const Combination& combination) = 0;
};

}  // namespace heddle
