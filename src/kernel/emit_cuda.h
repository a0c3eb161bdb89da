// Kernels as CUDA C++. The text needs no headers. Compile it without
// contraction of a*b+c (--fmad=false), so that every operation rounds once.
//
// Each phase is one __global__ function of
//   (Buffers buffers, char* scratch)
// where buffers.at[n] is the memory of buffer n, of all but those of one block. What a block has to
// itself lies in shared memory where that is large enough, else in scratch.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/kernel.h"

namespace heddle {

inline constexpr int kCudaWarp = 32;             // threads that run in step
inline constexpr int kCudaThreads = 256;         // of a block, where nothing asks for more
inline constexpr std::int64_t kCudaAccess = 16;  // bytes that a thread reads or writes best

// How threads share rows that stay with them.
struct CudaRowWay {
  int threads = 0, cluster = 1;  // of a block that has a row, or its part of one
  bool flies = false;            // whether the next rows are on their way to shared memory
  friend bool operator==(const CudaRowWay&, const CudaRowWay&) = default;
};

struct CudaLimits {
  std::int64_t shared_bytes = 48 << 10;  // of a block
  int multiprocessors = 132;
  int spare_registers = 32;  // of a thread, for what it computes beside what it keeps
  bool clusters = true;      // blocks that reach each other's shared memory: from sm_90 on
  int most_cluster = 8;      // blocks of one; some devices have more if they are asked
  // Rows are shared so where they can be, rather than as is thought best.
  std::optional<CudaRowWay> rows = {};
};

std::string emit_cuda(const Kernel& kernel, const CudaLimits& limits = {});

// What to launch, one after the other.
struct CudaPhase {
  std::string function;
  std::int64_t grid = 1;          // thread blocks; 0: nothing to do
  int threads = 1;                // in each
  std::int64_t shared_bytes = 0;  // of a block
  int cluster = 1;                // blocks that work together
  bool stays = false;             // they take what there is in turn, so that fewer do as well
  std::int64_t own_bytes = 0;     // of shared memory that its function has for itself, at most
  std::size_t of = 0, pass = 0;   // the phase of the kernel, and which of its launches
};
struct CudaPlan {
  std::vector<CudaPhase> phases;
  std::int64_t scratch_bytes = 0;  // of all blocks
};
CudaPlan cuda_plan(const Kernel& kernel, const CudaLimits& limits = {});

// A phase as its stages are written one after the other. Blocks of a last outer loop are cut
// smaller where they would leave most of the device idle, or where few blocks could keep what they
// read; stages whose sums go along different loops are taken apart.
Phase cuda_spread(const Kernel& kernel, const Phase& phase, const CudaLimits& limits);

// ---- many kernels in one launch

// Whether its blocks have nothing but registers to themselves.
bool can_be_packed(const Kernel& kernel, const CudaLimits& limits = {});
// A function for each phase of these kernels, which have equally many, of as many threads. It runs
// that phase of `entries` kernels, each one of these, by its own blocks. Its argument has the first
// block of each, an even number of them so that what follows is aligned, and then for each
//   struct { unsigned long long kernel; void* at[pointers]; }
// First blocks lie together since every block searches them.
std::string cuda_pack_name(std::size_t phase);
std::size_t cuda_pack_firsts(std::size_t entries);
std::string emit_cuda_pack(const std::vector<const Kernel*>& kernels, std::size_t entries,
                           std::size_t pointers, const CudaLimits& limits = {});

// ---- parts of a kernel inside of another function

// Of a kernel of one phase over one loop whose blocks have nothing but registers to themselves, as
//   __device__ void part0_0(const Entry& buffers, unsigned at_block, unsigned of_blocks)
// Block b does `positions` of the loop from b * positions on, by kCudaThreads threads, where
// of_blocks is as large as can be. `buffers.at` has the addresses. None where a kernel is of
// another kind.
struct CudaPart {
  std::string text;
  std::int64_t positions = 0;
};
std::optional<CudaPart> emit_cuda_part(const Kernel& kernel, const CudaLimits& limits = {});

// The loops of a stage whose positions the threads of a block may share out; the others run in
// order in every thread. None: one thread runs it all.
std::vector<bool> shared_loops(const Stage& stage);
// By statement: whether threads may have parts of the loops that are not shared, since it is an
// update of one element by what all their points give, in any order. Nothing where a statement
// stands in the way of that.
std::optional<std::vector<bool>> accumulated_updates(const Stage& stage,
                                                     const std::vector<bool>& shared);

// Whether a statement has one element for all points of its stage, which no point loads.
bool has_one_element(const Stage& stage, const Statement& statement);
// The same of all points that differ only along loops that are not shared.
bool has_one_element(const Stage& stage, const Statement& statement,
                     const std::vector<bool>& shared);

// Types and operations of the text.
std::string_view cuda_prelude();
std::string_view cuda_type(DType type);
std::string_view cuda_memory_type(DType type);  // truth values are bytes there

}  // namespace heddle
