// Combiners that select: the larger of two values and where it stands, and the like.
#pragma once

#include "heddle/kernel.h"

namespace heddle {

// Whether a combiner of a value and its place, whose places only grow, gives the same in any order
// and grouping, where of two the one with the lower place comes first. It may only compare and
// select, so that a few values stand for all; zeros of both signs are one.
bool selects_in_any_order(const Combiner& combiner, DType value, DType place);

}  // namespace heddle
