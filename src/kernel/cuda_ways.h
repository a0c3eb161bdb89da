// Ways to share the rows of a kernel that are worth timing.
#pragma once

#include <vector>

#include "kernel/emit_cuda.h"

namespace heddle {

// The one that is thought best, then a few others in the order of what they are expected to take;
// only the first where rows do not stay with threads. All compute the same but for the order in
// which sums are put together.
std::vector<CudaLimits> cuda_ways(const Kernel& kernel, const CudaLimits& limits);

}  // namespace heddle
