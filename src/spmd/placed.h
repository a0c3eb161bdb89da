// Parts that are put together along a dimension.
#pragma once

#include "spmd/core.h"

namespace heddle {

// The elements of `part` from place `begin` of the result on, and those of `under` before it.
ValueId placed(Core& core, ValueId part, const Window& place, std::int64_t begin, ValueId under);

}  // namespace heddle
