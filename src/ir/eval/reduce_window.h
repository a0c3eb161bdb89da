// Windows that slide over a padded, dilated tensor: reduce_window, select_and_scatter, convolution.
#pragma once

#include "ir/eval/reduce_common.h"

namespace heddle::reduction {

// One dimension of a window and of what it slides over.
struct WindowAxis {
  std::int64_t input = 0;   // elements of the operand
  std::int64_t window = 1;  // elements of the window
  std::int64_t stride = 1, pad_low = 0, pad_high = 0;
  std::int64_t base_dilation = 1, window_dilation = 1;

  // How many places the window has; nothing where sizes do not fit 64 bits.
  std::optional<std::int64_t> places() const;
  // The operand's index under element k of the window at a place, or -1 for padding and holes.
  std::int64_t source(std::int64_t place, std::int64_t k) const;
};

// The constraints' labels, in the order of the checks below.
struct WindowLabels {
  std::string_view window_size, window_positive, stride_size, stride_positive, base_size,
      base_positive, dilation_size, dilation_positive, padding;
};

// Reads window_dimensions, window_strides, base_dilations, window_dilations and padding.
Expected<std::vector<WindowAxis>> read_window(const Program& program, const Op& op,
                                              const Shape& input, const WindowLabels& labels);
// The windows of a reduce_window or select_and_scatter that the type rule passed.
std::vector<WindowAxis> window_of(const Program& program, const Op& op);
// How many places there are along each dimension.
Expected<Shape> window_places(const Op& op, std::string_view label,
                              const std::vector<WindowAxis>& axes);
// One number per dimension, all positive.
Verdict per_dimension_positive(const Op& op, std::string_view size_label,
                               std::string_view positive_label, std::string_view what,
                               const Integers& values, std::size_t count);

// The flat index of the element under the window, or -1; `place` and `inside` are positions.
std::int64_t window_source(const std::vector<WindowAxis>& axes, const Integers& strides,
                           const Integers& place, const Integers& inside);
// The position with this flat index in a row-major shape.
Integers position(const Shape& shape, std::int64_t flat);

}  // namespace heddle::reduction
