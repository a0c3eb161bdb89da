// Sorts on a GPU: of lines along any dimension, stable, with any number of operands.
#pragma once

#include "device/cuda/text_call.h"

namespace heddle::cuda {

// A line that fits is sorted by one block, several short ones together; a longer one in tiles,
// which are merged two by two. Null where no kernel sorts it.
std::unique_ptr<CudaCall> sort_call(const FunctionLoader& load, const Program& program,
                                    const Op& op);

}  // namespace heddle::cuda
