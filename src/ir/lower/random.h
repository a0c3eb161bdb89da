// Random bits as integer arithmetic at every element.
#pragma once

#include "heddle/op.h"
#include "ir/rewrite.h"

namespace heddle {

// Neighbours along one dimension share a call of the generator: the first even dimension, else the
// longest one.
std::size_t paired_dimension(const Shape& shape);

// Writes a rng_bit_generator in core ops, with the same bits; false: it stays as it is.
Expected<bool> lower_random_bits(Rewriter& r, const Op& op);

}  // namespace heddle
