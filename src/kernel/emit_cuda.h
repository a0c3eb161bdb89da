// Kernels as plain CUDA C++: right, not tuned. The text needs no headers. Compile it without
// contraction of a*b+c (--fmad=false), so that every operation rounds once.
//
// Each phase is one __global__ function of
//   (void* const* buffers, char* scratch, char* temporaries)
// where buffers[n] is the memory of buffer n for inputs and outputs.
#pragma once

#include <string>
#include <vector>

#include "heddle/kernel.h"

namespace heddle {

std::string emit_cuda(const Kernel& kernel);

// What to launch, one after the other.
struct CudaPhase {
  std::string function;
  std::int64_t grid = 1;  // thread blocks; 0: nothing to do
  int threads = 1;        // in each
};
struct CudaLaunch {
  std::vector<CudaPhase> phases;
  std::int64_t scratch_bytes = 0, temporary_bytes = 0;  // for the whole launch
};
CudaLaunch cuda_launch(const Kernel& kernel);

// The loops of a stage whose positions the threads of a block may share out; the others run in
// order in every thread. None: one thread runs it all.
std::vector<bool> shared_loops(const Stage& stage);

// Types and operations of the text.
std::string_view cuda_prelude();
std::string_view cuda_type(DType type);

}  // namespace heddle
