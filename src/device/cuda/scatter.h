// Scatters whose updates may meet, on a GPU: in the order of the updates, so that results are the
// same every time.
#pragma once

#include "device/cuda/text_call.h"

namespace heddle::cuda {

// Null where a plain kernel is as good, or none is written.
std::unique_ptr<CudaCall> scatter_call(const FunctionLoader& load, const Program& program,
                                       const Op& op);

}  // namespace heddle::cuda
