// Chunk programs as CUDA C++: one function that does what all ranks do, for ranks that reach each
// other's memory. Each lane has blocks of its own; block b of a lane has the same share of every
// chunk and talks with block b of the other end of a channel, so that flags in memory are enough.
// Blocks spin until a flag is there: all that are in flight must fit the device at once.
#pragma once

#include <string>

#include "heddle/dtype.h"
#include "heddle/error.h"
#include "heddle/layout.h"
#include "kernel/chunk_sums.h"

namespace heddle {

inline constexpr int kChunkThreads = 256;  // of a block

struct CudaChunkWork {
  ReduceOp reduce = ReduceOp::sum;
  DType dtype = DType::f32;  // of the sums
  int blocks = 16;           // of a lane
  // Shares of blocks begin at multiples of it, counted from where the chunk begins.
  std::int64_t grain = 1024;
  int extra = 0;  // addresses of each rank for what is computed inside
  // __device__ void h_compute(int function, const Memory& memory, int rank, i64 from, i64 to,
  //                           i64 begin, i64 end)
  // does elements `begin` to `end` of a chunk that it reads at `from` and writes at `to`. Of a norm
  // each block has all of the chunk to look at.
  std::string compute = {};
  const ChunkSums* sums = nullptr;  // that what is computed inside takes by itself
};

struct CudaChunks {
  std::string text;              // behind the prelude of kernels
  std::int64_t slot_bytes = 0;   // of all channels
  std::int64_t flags = 0;        // words of 8 bytes, zero before the first launch
  std::int64_t rank_blocks = 0;  // of a launch, for each of its ranks
};

// extern "C" __global__ chunks(const Memory memory, int first_rank, ui64 turn): ranks from
// `first_rank` on, as many as there are blocks for; `turn` counts the launches of a program.
//
// Memory: void* at[ranks][buffers], where element 0 is, or would be where a rank holds its slice
//         void* extra[ranks][extra], at least one; char* slots; ui64* flags; ui64* stop; ui64
//         patience
// A wait that takes longer than `patience` nanoseconds writes to `stop`, and all others end;
// without `stop` the kernel fails. A reason where blocks could not share a program so.
Expected<CudaChunks> emit_cuda_chunks(const chunks::ChunkProgram& program,
                                      const CudaChunkWork& work);
// What the text needs beside the prelude of kernels: a clock, and a way to fail.
std::string_view cuda_chunk_clock();

}  // namespace heddle
