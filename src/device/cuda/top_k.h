// The few largest elements of every row, on a GPU.
#pragma once

#include <optional>

#include "device/cuda/text_call.h"

namespace heddle::cuda {

// The text of its kernel: a warp for a row, or a block for a long one, looks for the largest
// element that it has not had, as often as one is wanted. Nothing where many are wanted, or
// elements have more than four bytes.
std::optional<std::string> top_k_text(const Program& program, const Op& op);
std::unique_ptr<CudaCall> top_k_call(const FunctionLoader& load, const Program& program,
                                     const Op& op);

}  // namespace heddle::cuda
