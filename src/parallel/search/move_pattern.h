// What a move changes, apart from how large the value is.
#pragma once

#include "heddle/split.h"

namespace heddle::search {

struct MovePattern {
  Split from, to;
};

// The same move of a small value: each digit that one of the two splits counts along an axis is a
// dimension by itself, and what lies on every device before and after is left out. Dimensions whose
// blocks are uneven or do not nest stay as they are. Moves that differ only in what is left out, or
// in the order of dimensions, have one pattern.
MovePattern pattern_of(const Split& from, const Split& to);

}  // namespace heddle::search
