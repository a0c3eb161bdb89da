// A dense array made of another one: transposed, flipped, padded, with holes, or window by window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle {

// Element (i0, i1, ...) of what is made is the source's at the sum over axes of index * stride,
// where the index of an axis is its offset and what the dimensions that move along it add; nothing
// is there, and the element is zero, where that is below 0, not a multiple of `hole`, or too large.
struct Rearrangement {
  struct Axis {  // of the source
    std::int64_t size = 1, stride = 0, offset = 0, hole = 1;
  };
  struct Dim {  // of what is made, outermost first
    std::int64_t size = 1;
    std::size_t axis = 0;
    std::int64_t step = 1;  // along the axis
  };
  std::vector<Axis> axes;
  std::vector<Dim> dims;

  std::int64_t elements() const;
  // The least and the most that the index of an axis comes to.
  std::pair<std::int64_t, std::int64_t> range_of(std::size_t axis) const;
  bool is_always_there(std::size_t axis) const;
  // Whether every element is one of the source's.
  bool is_view() const;
  // Of a view: where its first element is, and from one to the next along each dimension.
  std::int64_t start() const;
  std::vector<std::int64_t> strides() const;
  // Whether all that is made is the source as it lies.
  bool is_identity() const;
  // Where one element comes from, or -1.
  std::int64_t source_of(std::int64_t element) const;
};

}  // namespace heddle
