// A convolution as matrix products over tiles: rows are places of the window in an image, columns
// are output features, and the sum runs over the window and the input features.
#pragma once

#include "device/cpu/element.h"
#include "ir/eval/conv.h"

namespace heddle::cpu {

struct ConvPlan {
  std::int64_t groups = 1;   // that have nothing to do with each other
  std::int64_t batch = 1;    // images of a group
  std::int64_t inputs = 1;   // features that a group reads
  std::int64_t outputs = 1;  // features that a group writes
  Shape places, window;      // along the spatial dimensions
  std::int64_t place_count = 1, window_count = 1;

  // In elements.
  std::int64_t in_batch = 0, in_feature = 0, out_batch = 0, out_feature = 0;
  std::int64_t in_group = 0, out_group = 0, out_start = 0;
  std::vector<std::int64_t> in_spatial, out_spatial;
  // Where the window reads, or -1: the sum of what the last spatial dimension and the ones before
  // it say, each by place * window + element.
  std::vector<std::int64_t> outer_source, last_source;
  std::int64_t last_place = 1, outer_window = 1, last_window = 1;
  // Per place along the last dimension: the elements of its window that are there, where they are
  // one run; per element: the places that see it, where they read at even steps.
  struct Line {
    std::int64_t begin = 0, end = 0, from = 0, step = 0;
    bool even = false;
  };
  std::vector<Line> window_lines, place_lines;

  // Rows: images outside and places inside, or the other way round.
  bool batch_inside = false;
  std::int64_t row_step = 0;  // of the result from row to row; 0: none fits all rows
  // The input is the matrix already: rows of a window of one element. 0: it is not.
  std::int64_t direct_step = 0;
  // Places of an image lie side by side in the result, features apart: a line per feature.
  bool by_features = false;
  bool direct_features = false;  // and so they do in the input, whose window has one element

  bool depthwise = false;  // every group is one feature in and out, side by side in both
  // The kernel walked as group, window, input, output; depthwise as window, group.
  std::vector<Stride> weights;
  std::int64_t weights_start = 0;
  bool weights_dense = false;

  std::int64_t rows() const { return batch * place_count; }
  // Image and flat place of a row.
  std::pair<std::int64_t, std::int64_t> split(std::int64_t row) const {
    if (batch_inside) return {row % batch, row / batch};
    return {row / place_count, row % place_count};
  }
  const std::int64_t* outer_sources(std::int64_t place) const {
    return &outer_source[static_cast<std::size_t>(place / last_place * outer_window)];
  }
  const std::int64_t* last_sources(std::int64_t place) const {
    return &last_source[static_cast<std::size_t>(place % last_place * last_window)];
  }
  std::int64_t depth() const { return window_count * inputs; }
};

// Places and elements of the window along one dimension that have to do with each other: every
// place_step-th and every tap_step-th. With holes between the input's elements, others meet only
// holes.
struct ConvClass {
  std::int64_t first_place = 0, place_step = 1, places = 0;
  std::int64_t first_tap = 0, tap_step = 1, taps = 0;
};

// All of them along a dimension of so many places; one where the input has no holes.
std::vector<ConvClass> classes_of(const reduction::WindowAxis& axis, std::int64_t places);

// Of one class per spatial dimension.
ConvPlan plan_conv(const reduction::Conv& conv, const Shape& input, const Shape& kernel,
                   const Shape& result, bool may_be_depthwise,
                   const std::vector<ConvClass>& classes);

}  // namespace heddle::cpu
