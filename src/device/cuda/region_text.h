// Regions of scalar ops (the order of a sort, what a scatter does) as CUDA text, over the prelude
// of kernels.
#pragma once

#include <string>

#include "device/scalar_region.h"

namespace heddle::cuda {

// `ordered(x)`: an unsigned number that compares as the element does; floats in total order.
std::string_view ordered_text();
// "r5", or a constant of that type.
std::string operand_text(const ScalarRegion& region, std::size_t at, DType type);
// "  const f32 r5 = h_add(r1, r2);" in a line.
std::string step_text(const ScalarRegion& region, const ScalarRegion::Step& step);

}  // namespace heddle::cuda
