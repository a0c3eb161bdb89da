// What a machine can do, in the few figures that plans are made with. `heddle calibrate` measures
// them; until then they are those of a common server with as many cores.
#pragma once

#include <cstdint>

namespace heddle {

struct MachineFigures {
  int workers = 2;                               // cores that run blocks at the same time
  std::int64_t near_cache = 512 << 10;           // bytes of a worker's own cache to count on
  std::int64_t far_cache = 16 << 20;             // bytes of the last cache, which workers share
  double copy_rate = 40e9;                       // bytes a second of memory, by all workers
  double worker_copy_rate = 20e9;                // the most of it that one worker gets
  double near_rate = 100e9;                      // bytes a second of one worker, within its cache
  double launch_seconds = 2e-6;                  // of a kernel on all workers
  double light_rate = 50e9, heavy_rate = 2.5e9;  // f32 operations a second of one worker
  double rounding = 8;                           // light operations that go with one on f16 or bf16
  int vector_bytes = 64;
  bool counts_all = false;  // groups are compared by all workers: such a device has no other number
  bool sweeps = false;      // passes over rows with the last few of several stencils in registers
  friend bool operator==(const MachineFigures&, const MachineFigures&) = default;
};

}  // namespace heddle
