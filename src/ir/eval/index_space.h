// Walking the index space of a shape, and copying boxes of elements between arrays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "heddle/array.h"

namespace heddle {

using Index = std::vector<std::int64_t>;

// How far apart neighbours along each dimension are in a row-major array: {12, 4, 1} for 2x3x4.
inline Index row_major_strides(const Shape& shape) {
  Index strides(shape.size());
  std::uint64_t step = 1;  // may wrap where another dimension is 0; nothing is read then
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = static_cast<std::int64_t>(step);
    step *= static_cast<std::uint64_t>(shape[d]);
  }
  return strides;
}

inline std::int64_t flat_index(std::span<const std::int64_t> index,
                               std::span<const std::int64_t> strides) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < index.size(); ++d) flat += index[d] * strides[d];
  return flat;
}

// Every index of a shape in row-major order: for (IndexWalk at(shape); at; ++at) use(*at).
// A scalar has one index, a shape with a dimension of size 0 has none.
class IndexWalk {
 public:
  explicit IndexWalk(Shape shape) : shape_(std::move(shape)), index_(shape_.size(), 0) {
    for (std::int64_t size : shape_) more_ = more_ && size > 0;
  }

  explicit operator bool() const { return more_; }
  const Index& operator*() const { return index_; }
  std::int64_t operator[](std::size_t d) const { return index_[d]; }
  IndexWalk& operator++() {
    for (std::size_t d = shape_.size(); d-- > 0;) {
      if (++index_[d] < shape_[d]) return *this;
      index_[d] = 0;
    }
    more_ = false;
    return *this;
  }

 private:
  Shape shape_;
  Index index_;
  bool more_ = true;
};

// Where the elements of a box lie in an array: at base + Σ index[d] * steps[d].
struct ElementPlaces {
  std::int64_t base = 0;
  Index steps;
};

// Copies a box of elements of `size` bytes; the placements must lie within the spans.
inline void copy_box(const Shape& box, int size, std::span<const std::byte> from,
                     const ElementPlaces& source, std::span<std::byte> to,
                     const ElementPlaces& target) {
  Shape outer = box;
  std::int64_t run = 1;  // elements that are neighbours on both sides
  if (!box.empty() && source.steps.back() == 1 && target.steps.back() == 1) {
    run = box.back();
    outer.back() = std::min<std::int64_t>(run, 1);
  }
  for (IndexWalk at(outer); at; ++at)
    std::memcpy(to.data() + (target.base + flat_index(*at, target.steps)) * size,
                from.data() + (source.base + flat_index(*at, source.steps)) * size,
                static_cast<std::size_t>(run * size));
}

// An array whose elements are those of `array` at the given places.
inline Array pick_elements(const Array& array, const Type& result, const ElementPlaces& places) {
  // One value everywhere takes no memory.
  if (array.is_splat() || array.elements() == 1) return Array::splat(result, array.element(0));
  Array picked(result);
  copy_box(result.shape, byte_size(result.dtype), array.bytes(), places, picked.mutable_bytes(),
           {0, row_major_strides(result.shape)});
  return picked;
}

// Writes all elements of `part` into `whole` at the given places.
inline void put_elements(Array& whole, const Array& part, const ElementPlaces& places) {
  copy_box(part.shape(), byte_size(part.dtype()), part.bytes(),
           {0, row_major_strides(part.shape())}, whole.mutable_bytes(), places);
}

}  // namespace heddle
