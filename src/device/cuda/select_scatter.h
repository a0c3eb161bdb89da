// select_and_scatter where windows choose by comparing floats and sums are scattered: the gradient
// of max pooling.
#pragma once

#include <optional>

#include "device/cuda/text_call.h"

namespace heddle::cuda {

// Two kernels. `choose(operand, numbers)`: which of its elements each window chooses.
// `give(numbers, source, first, result)`: every element looks at the windows that it lies in, and
// adds up what those give that have chosen it, in their order.
struct SelectScatterTexts {
  std::string choose = {}, give = {};
  std::int64_t windows = 0, elements = 0;  // that threads have, several channels at a time
  std::int64_t number_bytes = 0;           // of all numbers
};
// Nothing where the op is not of this kind.
std::optional<SelectScatterTexts> select_scatter_texts(const Program& program, const Op& op);
std::unique_ptr<CudaCall> select_scatter_call(const FunctionLoader& load, const Program& program,
                                              const Op& op);

}  // namespace heddle::cuda
