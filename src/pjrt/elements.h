// Element types under the numbers that JAX has for them.
#pragma once

#include "heddle/type.h"
#include "pjrt/c_api.h"

namespace heddle::pjrt {

// Throws a Failure for a number that Heddle has no type for.
DType dtype_of(ElementType type);
ElementType element_type_of(const Type& type);
// A tensor, or a token.
Type type_of(ElementType type, const std::int64_t* dims, std::size_t rank);

// "{1,0}" for rank 2: dimensions from the innermost on, as layouts are written.
std::string row_major_text(std::size_t rank);

}  // namespace heddle::pjrt
