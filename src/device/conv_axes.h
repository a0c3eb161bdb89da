// Dimensions of convolutions' operands as axes of a rearrangement.
#pragma once

#include "device/rearrangement.h"
#include "heddle/type.h"

namespace heddle::conv {

inline std::size_t place(std::int64_t d) { return static_cast<std::size_t>(d); }

// One axis per dimension of a dense array.
inline std::vector<Rearrangement::Axis> axes_of(const Shape& shape) {
  std::vector<Rearrangement::Axis> axes(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d])
    axes[d] = {.size = shape[d], .stride = stride};
  return axes;
}

inline Rearrangement::Dim whole(const std::vector<Rearrangement::Axis>& axes, std::int64_t d) {
  return {.size = axes[place(d)].size, .axis = place(d)};
}

// A dimension read from its last element to its first.
inline Rearrangement::Dim flipped(std::vector<Rearrangement::Axis>& axes, std::int64_t d) {
  axes[place(d)].offset = axes[place(d)].size - 1;
  return {.size = axes[place(d)].size, .axis = place(d), .step = -1};
}

}  // namespace heddle::conv
