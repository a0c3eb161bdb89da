// Convolutions of every feature by itself: features side by side instead of products of matrices.
#pragma once

#include "device/cpu/conv_plan.h"

namespace heddle::cpu {

// Rows first … last - 1 of all features, of a plan that is depthwise; for f32 and f64.
void run_depthwise(const ConvPlan& plan, DType dtype, const std::byte* input,
                   const std::byte* weights, std::byte* result, std::int64_t first,
                   std::int64_t last);

}  // namespace heddle::cpu
