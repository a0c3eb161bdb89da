// Two splits of one value, cut into the digits that both have in common.
#pragma once

#include "heddle/split.h"

namespace heddle {

// One digit of a dimension with what it is before and after.
struct Place {
  std::size_t dim;
  SplitDigit a, b;
  std::int64_t extent() const { return a.extent; }
};

struct Refined {
  std::vector<Place> places;  // dimension by dimension, major before minor
  SplitAxes a_pending, b_pending;
};

// Says no where the digits of one do not nest in those of the other. No dimension is without
// digits, and dimensions have equal room on both sides.
bool refine(const Split& a, const Split& b, const Mesh& mesh, Refined& out);

}  // namespace heddle
