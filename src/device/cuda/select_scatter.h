// select_and_scatter where windows choose by comparing floats and sums are scattered: the gradient
// of max pooling.
#pragma once

#include <optional>

#include "device/cuda/text_call.h"

namespace heddle::cuda {

// The text of its kernel; nothing where it is not of this kind. Every element of the result looks
// at the windows that it lies in and adds up what they give it, in their order.
std::optional<std::string> select_scatter_text(const Program& program, const Op& op);
std::unique_ptr<CudaCall> select_scatter_call(const FunctionLoader& load, const Program& program,
                                              const Op& op);

}  // namespace heddle::cuda
