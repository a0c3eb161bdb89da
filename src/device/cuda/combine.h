// Sums over the parts that ranks on one GPU bring, as CUDA text.
#pragma once

#include <string>

#include "heddle/dtype.h"
#include "heddle/layout.h"

namespace heddle::cuda {

inline constexpr std::size_t kMostCombined = 32;  // parts
inline constexpr unsigned kCombiningThreads = 256;
inline constexpr std::int64_t kMostCombiningBlocks = 1024;

// Whether kernels have that op for the elements, with the bits that the host gives.
bool has_combination(ReduceOp op, DType dtype);

// combine(Parts, count, out, run, step, elements): elements of all parts from the left, in order.
// Parts are kMostCombined addresses; a part has runs of `run` elements, `step` apart.
std::string combine_text(ReduceOp op, DType dtype);

}  // namespace heddle::cuda
