// What neither a kernel nor a library of the GPU computes: by the host's own call, on copies.
#pragma once

#include "device/cuda/queue.h"

namespace heddle::cuda {

// Null where the host has none either.
std::unique_ptr<CudaCall> host_call(Device& host, const Program& program, const Op& op);

}  // namespace heddle::cuda
