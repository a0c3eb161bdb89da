// A phase whose rows stay in registers, as CUDA text.
#pragma once

#include "kernel/cuda_resident.h"
#include "kernel/indented_text.h"

namespace heddle {

// The body of its function, after pointers to buffers.
void emit_cuda_resident(const Kernel& kernel, const CudaResident& resident, IndentedText& text);
// Thread blocks of the grid.
std::int64_t resident_grid(const CudaResident& resident);

}  // namespace heddle
