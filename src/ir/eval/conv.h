// What the attributes of a convolution say.
#pragma once

#include "ir/eval/reduce_window.h"

namespace heddle::reduction {

// Which dimension is what, for the input, the kernel and the output.
struct ConvDims {
  std::int64_t input_batch, input_feature, kernel_input, kernel_output, output_batch,
      output_feature;
  Integers input_spatial, kernel_spatial, output_spatial;
};

struct Conv {
  ConvDims dims;
  std::vector<WindowAxis> axes;
  std::vector<bool> reversed;
  std::int64_t feature_groups = 1, batch_groups = 1;
};

// A convolution that the type rule passed; the padding of dynamic_conv, which is data, is left 0.
Conv conv_of(const Program& program, const Op& op);

}  // namespace heddle::reduction
