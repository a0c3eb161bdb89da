// Tiles that threads turn in their registers, and tiles of inputs that a block keeps.
//
// A transpose reads along one loop and writes along another. A thread that has a small tile of both
// reads its rows and writes its columns by accesses of 16 bytes each. What several stages of a
// block read, and one of them turned, is brought to shared memory first, once.
#pragma once

#include <optional>

#include "kernel/cuda_resident.h"

namespace heddle {

struct CudaVectors;

// A thread has `width` neighbouring positions of a second loop, along which these loads lie.
struct CudaTurn {
  std::size_t loop = 0;
  int width = 1;
  std::vector<bool> loads;  // by node
};
// For stages of which each point has its own elements; `vectors` are those along the last loop.
std::optional<CudaTurn> cuda_turn(const Kernel& kernel, const Phase& phase, const Stage& stage,
                                  const CudaVectors& vectors);

// Rows of an input, `width` neighbours each, `stride` apart, in the shared memory of a block.
struct CudaStaged {
  std::uint32_t buffer = 0;
  CudaPlace base;  // without loops
  std::int64_t rows = 1, stride = 1, width = 1;
  std::int64_t row_bytes = 16;
  std::int64_t offset = 0;  // in the block's shared memory
  std::int64_t bytes() const { return rows * row_bytes; }
  std::int64_t accesses() const { return row_bytes / 16; }  // of a row
};
// From `offset` on, as far as there is room.
std::vector<CudaStaged> cuda_staged(const Kernel& kernel, const Phase& phase, std::int64_t offset,
                                    const CudaLimits& limits);
// Whether its last outer loop's block should be halved, so that several blocks keep their tiles.
bool wants_smaller_tile(const Kernel& kernel, const Phase& phase);

}  // namespace heddle
