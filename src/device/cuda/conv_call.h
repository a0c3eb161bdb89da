// Convolutions of a GPU: by cuDNN, or as matrix products.
#pragma once

#include <functional>

#include "device/cuda/dnn_conv.h"
#include "device/cuda/rearrange.h"
#include "device/cuda/text_call.h"

namespace heddle::cuda {

// How kernels that rearrange operands are had.
struct RearrangeLoader {
  std::function<Expected<std::shared_ptr<const RearrangeKernels>>()> kernels;
  FunctionLoader function;
};

// Whether its types are those that the GPU's libraries convolve.
bool is_convolution(const Program& program, const Op& op);
// Opens cuDNN, and plans the convolutions of a program that were planned before.
void plan_convolutions_ahead(Context& context, const Notebook& notebook, const Program& program);
// Null where neither library computes it, or none is there.
std::unique_ptr<CudaCall> conv_call(Context& context, const Notebook& notebook,
                                    const RearrangeLoader& rearrange, const Program& program,
                                    const Op& op);

}  // namespace heddle::cuda
