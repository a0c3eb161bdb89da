// What a GPU says of itself.
#pragma once

#include <cstdint>
#include <string>

namespace heddle::cuda {

struct GpuFacts {
  std::string name;  // NVIDIA H200
  std::string arch;  // sm_90
  int multiprocessors = 1;
  int clock_khz = 0;            // of the multiprocessors
  int shared_bytes = 48 << 10;  // that one block may have
  int far_cache = 0;            // bytes of the last cache
  int memory_khz = 0, memory_bits = 0;
  std::int64_t memory_bytes = 0;
};

}  // namespace heddle::cuda
