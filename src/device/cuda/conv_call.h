// Convolutions of a GPU: by cuDNN, or as matrix products.
#pragma once

#include <functional>

#include "device/cuda/dnn_conv.h"
#include "device/cuda/queue.h"
#include "device/cuda/rearrange.h"

namespace heddle::cuda {

using RearrangeLoader = std::function<Expected<std::shared_ptr<const RearrangeKernels>>()>;

// Whether its types are those that the GPU's libraries convolve.
bool is_convolution(const Program& program, const Op& op);
// Null where neither library computes it, or none is there.
std::unique_ptr<CudaCall> conv_call(Context& context, const Notebook& notebook,
                                    const RearrangeLoader& rearrange, const Program& program,
                                    const Op& op);

}  // namespace heddle::cuda
