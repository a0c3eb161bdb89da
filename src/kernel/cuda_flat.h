// Elements one after the other: a phase of one stage over the positions of one outer loop, such as
// an optimiser's step. How they are cut into blocks for a cache means nothing here.
//
// Without sums each thread has one access of 16 bytes of every operand, and there are as many
// blocks as that takes. With sums a block has a chunk: its threads go along it side by side, and
// put together what they have when it is done.
#pragma once

#include <optional>

#include "kernel/emit_cuda_stage.h"

namespace heddle {

struct CudaFlat {
  std::int64_t extent = 0, chunks = 0;
  std::int64_t block = 1, blocks = 1;  // of the phase: a chunk has whole ones
  bool stays = false;                  // blocks have several turns
  CudaVectors vectors;
  static constexpr int kThreads = kCudaThreads;
  std::int64_t grid() const;
  Round round() const;  // of [elements]
};

// Nothing where the phase is of another kind, or nothing could be read or written together.
std::optional<CudaFlat> cuda_flat(const Kernel& kernel, const Phase& phase);
// The body of its function, after pointers to buffers.
void emit_cuda_flat(const Kernel& kernel, const Phase& phase, const CudaFlat& flat,
                    IndentedText& text);

}  // namespace heddle
