// The reductions of collectives, element by element.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/dtype.h"
#include "heddle/layout.h"

namespace heddle::comm {

// out = a op b; out may be a.
using Combine = void (*)(std::byte* out, const std::byte* a, const std::byte* b,
                         std::int64_t elements);

// As the op of that name combines two elements; and and or are of bits for integers. Null where the
// element type has no such op.
Combine combine_function(ReduceOp op, DType dtype);

}  // namespace heddle::comm
