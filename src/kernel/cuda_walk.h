// Threads that stay with their columns: a phase with one stage over rows of few elements, which
// sums up columns in chunks, or reads much that belongs to columns (means, gains). Stages in front
// of it may compute what belongs to columns.
//
// A block has several rows next to each other at a time. A thread has a few neighbouring columns
// and walks down the rows: sums of its columns stay in its registers, and what belongs to columns
// alone is loaded and computed once. At the end of a chunk the threads of a column put together
// what they have, in the order of their rows.
#pragma once

#include <optional>

#include "kernel/emit_cuda_stage.h"

namespace heddle {

struct CudaWalk {
  Phase phase;  // with one row to a block
  CudaVectors vectors;
  std::vector<bool> accumulated;  // by statement: a sum of columns
  std::int64_t units = 1;         // of `vectors.count` columns, in a row
  std::int64_t grid = 1;          // thread blocks
  int threads = kCudaThreads;     // of a block
  int at_once = 1;                // blocks of a multiprocessor, if registers suffice
  std::int64_t rows() const { return phase.outer[0].extent; }
  std::int64_t columns() const { return units * vectors.count; }
  std::int64_t abreast() const { return threads / units; }  // rows of a block at a time
  const Stage& stage() const { return phase.stages.back(); }
  // Of shared memory, in which rows that are abreast put their sums together.
  std::int64_t part_bytes(const Kernel& kernel) const;
};

// Nothing where the phase is of another kind, or too small to be worth it.
std::optional<CudaWalk> cuda_walk(const Kernel& kernel, const Phase& phase,
                                  const CudaLimits& limits);
// The body of its function, after pointers to buffers.
void emit_cuda_walk(const Kernel& kernel, const CudaWalk& walk, IndentedText& text);

}  // namespace heddle
