// A phase whose rows stay in registers, as CUDA text.
#pragma once

#include "kernel/cuda_resident.h"
#include "kernel/indented_text.h"

namespace heddle {

// The body of its function, after pointers to buffers.
void emit_cuda_resident(const Kernel& kernel, const CudaResident& resident, IndentedText& text);
// Rows that fly: the first ones set out; the row that is due is there, at `row_here`; its room is
// free for a later one; and the next row is due.
void emit_cuda_flights(const Kernel& kernel, const CudaResident& resident, IndentedText& text);
void emit_cuda_arrival(const CudaResident& resident, IndentedText& text);
void emit_cuda_release(IndentedText& text);
void emit_cuda_next_slot(const CudaResident& resident, IndentedText& text);
// Elements that belong to whole rows: a way to ask for those of a row; what was asked for is there,
// and the next row's are asked for.
void emit_cuda_ahead(const Kernel& kernel, const CudaResident& resident, IndentedText& text);
void emit_cuda_early(const Kernel& kernel, const CudaResident& resident, IndentedText& text);
// Thread blocks of the grid.
std::int64_t resident_grid(const CudaResident& resident);

}  // namespace heddle
