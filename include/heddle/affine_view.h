// AffineView: the elements of a dense store that an array shows, as NumPy's views do: an offset,
// and a stride per dimension, counted in elements. And how two views of one store meet.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/type.h"

namespace heddle {

struct AffineView {
  std::int64_t offset = 0;
  Shape shape;
  std::vector<std::int64_t> strides;  // one per dimension; 0 repeats an element, below 0 goes back

  // All of a store, as it lies.
  static AffineView whole(Shape shape);

  std::size_t rank() const { return shape.size(); }
  std::int64_t elements() const;
  // Whether it shows its elements one after the other, in row-major order.
  bool is_dense() const;
  // The place of an element in the store.
  std::int64_t place(const Shape& index) const;

  // Of dimension d: elements start, start + step, … ; start is a place even where step is below 0.
  AffineView sliced(std::size_t d, std::int64_t start, std::int64_t step, std::int64_t size) const;
  // Without dimension d, at one of its indices.
  AffineView at(std::size_t d, std::int64_t index) const;
  AffineView with_new_dim(std::size_t before) const;
  // Result dimension i is dimension order[i].
  AffineView transposed(const std::vector<std::size_t>& order) const;
  // None where sizes do not fit NumPy's rule.
  std::optional<AffineView> broadcast(const Shape& to) const;
  // None where no strides show the elements in that order: NumPy copies there.
  std::optional<AffineView> reshaped(const Shape& to) const;

  friend bool operator==(const AffineView&, const AffineView&) = default;
};

// How two views of one store meet, found in time that depends on their rank only.
struct Meeting {
  enum class Kind : std::uint8_t {
    same,      // element by element
    disjoint,  // no element is in both
    halo,      // b[i] is a[i + delta] wherever both have it
    unknown,
  };
  Kind kind = Kind::unknown;
  std::vector<std::int64_t> delta;  // of a halo, per dimension
};
// `shape` is the store's.
Meeting meet(const AffineView& a, const AffineView& b, const Shape& shape);

// A view as ops show it: the store reshaped to `base`, a box of it with steps, some of its
// dimensions turned around, those of one element dropped, in another order, and repeated along new
// ones.
struct BoxView {
  struct Range {
    std::int64_t start = 0, step = 1, size = 1;
    bool reversed = false;
  };
  Shape base;
  std::vector<Range> ranges;  // one per dimension of base
  std::vector<int> from;      // the base dimension of each of the view's; -1: a new one

  bool is_whole() const;  // every element of the store, in whatever order
};
// None where no box does it, as for a diagonal.
std::optional<BoxView> find_box(const AffineView& view, const Shape& shape);

}  // namespace heddle
