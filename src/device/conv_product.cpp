// Convolutions as products of windows with kernels.
#include <array>
#include <functional>
#include <numeric>

#include "device/conv_axes.h"
#include "device/conv_form.h"

namespace heddle {

using namespace conv;

namespace {

using Axis = Rearrangement::Axis;
using Dim = Rearrangement::Dim;
using reduction::Conv;
using reduction::WindowAxis;

// The axes of an operand, and its dimensions by what they are in the product.
struct Side {
  std::vector<Axis> axes;
  std::vector<Dim> group, outer, window, features;

  Rearrangement matrix(bool outer_first, bool window_first) const {
    Rearrangement r{.axes = axes, .dims = group};
    const auto add = [&](const std::vector<Dim>& dims) {
      r.dims.insert(r.dims.end(), dims.begin(), dims.end());
    };
    if (outer_first) add(outer);
    add(window_first ? window : features);
    add(window_first ? features : window);
    if (!outer_first) add(outer);
    return r;
  }
};

// Windows of one element over an input with holes: its elements are multiplied as they lie, and the
// holes come into the result.
bool leaves_holes(const Conv& conv) {
  bool has_holes = false;
  for (const WindowAxis& axis : conv.axes) {
    if (axis.window != 1 || axis.stride != 1) return false;
    has_holes = has_holes || axis.base_dilation > 1;
  }
  return has_holes;
}

// Rows of an image along a dimension.
std::int64_t rows_along(const Conv& conv, const ConvShapes& shapes, std::size_t s) {
  return leaves_holes(conv) ? conv.axes[s].input
                            : shapes.result[place(conv.dims.output_spatial[s])];
}

Side input_side(const Conv& conv, const ConvShapes& shapes) {
  Side side;
  side.axes = axes_of(shapes.input);
  const std::int64_t batch = shapes.input[place(conv.dims.input_batch)] / conv.batch_groups;
  const std::int64_t features = shapes.kernel[place(conv.dims.kernel_input)];
  const std::size_t n = place(conv.dims.input_batch), f = place(conv.dims.input_feature);
  if (conv.batch_groups > 1)
    side.group = {{conv.batch_groups, n, batch}};
  else
    side.group = {{conv.feature_groups, f, features}};
  side.outer = {{batch, n, 1}};
  side.features = {{features, f, 1}};
  for (std::size_t s = 0; s < conv.axes.size(); ++s) {
    const WindowAxis& axis = conv.axes[s];
    const std::size_t d = place(conv.dims.input_spatial[s]);
    if (!leaves_holes(conv)) {
      side.axes[d].offset = -axis.pad_low;
      side.axes[d].hole = axis.base_dilation;
    }
    side.outer.push_back({rows_along(conv, shapes, s), d, axis.stride});
    side.window.push_back({axis.window, d, axis.window_dilation});
  }
  return side;
}

Side kernel_side(const Conv& conv, const ConvShapes& shapes) {
  Side side;
  side.axes = axes_of(shapes.kernel);
  const std::int64_t groups = conv.batch_groups * conv.feature_groups;
  const std::size_t o = place(conv.dims.kernel_output);
  const std::int64_t columns = shapes.kernel[o] / groups;
  side.group = {{groups, o, columns}};
  side.outer = {{columns, o, 1}};
  side.features = {whole(side.axes, conv.dims.kernel_input)};
  for (std::size_t s = 0; s < conv.axes.size(); ++s) {
    const std::int64_t d = conv.dims.kernel_spatial[s];
    side.window.push_back(conv.reversed[s] ? flipped(side.axes, d) : whole(side.axes, d));
  }
  return side;
}

// From groups x rows x columns, rows being images and places.
Rearrangement product_result(const Conv& conv, const ConvShapes& shapes, const ConvProduct& p) {
  const Shape& shape = shapes.result;
  const std::size_t feature = place(conv.dims.output_feature);
  // Axes: group, image, places..., column.
  std::vector<std::int64_t> sizes = {p.groups, shape[place(conv.dims.output_batch)]};
  for (std::size_t s = 0; s < conv.axes.size(); ++s) sizes.push_back(rows_along(conv, shapes, s));
  sizes.push_back(p.columns);
  Rearrangement r{.axes = axes_of(sizes), .dims = {}};
  if (leaves_holes(conv))
    for (std::size_t s = 0; s < conv.axes.size(); ++s) {
      r.axes[2 + s].offset = -conv.axes[s].pad_low;
      r.axes[2 + s].hole = conv.axes[s].base_dilation;
    }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d == feature) {
      r.dims.push_back({p.groups, 0, 1});
      r.dims.push_back({p.columns, sizes.size() - 1, 1});
      continue;
    }
    std::size_t axis = 1;
    for (std::size_t s = 0; s < conv.axes.size(); ++s)
      if (place(conv.dims.output_spatial[s]) == d) axis = 2 + s;
    r.dims.push_back({shape[d], axis, 1});
  }
  return r;
}

// A matrix of a side, and how many elements have to be brought into another order for it: none
// where the side is one of its two forms as it lies. A goes by its outer dimension, B by the depth.
std::int64_t moved(const Side& side, bool window_first, bool is_kernel, bool& transposed,
                   Rearrangement& matrix) {
  for (bool flipped : {true, false}) {
    transposed = flipped;
    matrix = side.matrix(is_kernel == flipped, window_first);
    if (matrix.is_identity()) return 0;
  }
  return matrix.elements();
}

}  // namespace

ConvProduct conv_product(const Conv& conv, const ConvShapes& shapes) {
  const Side input = input_side(conv, shapes), kernel = kernel_side(conv, shapes);
  ConvProduct p;
  p.groups = conv.batch_groups * conv.feature_groups;
  p.depth = input.features[0].size;
  for (const Rearrangement::Dim& dim : input.window) p.depth *= dim.size;
  p.columns = kernel.outer[0].size;
  for (const Rearrangement::Dim& dim : input.outer) p.rows *= dim.size;
  std::int64_t least = -1;
  for (bool window_first : {true, false}) {
    std::array<bool, 2> transposed;
    std::array<Rearrangement, 2> sides;
    const std::int64_t elements = moved(input, window_first, false, transposed[0], sides[0]) +
                                  moved(kernel, window_first, true, transposed[1], sides[1]);
    if (least >= 0 && elements >= least) continue;
    least = elements;
    p.transposed = transposed;
    p.moves[0] = sides[0];
    p.moves[1] = sides[1];
  }
  p.moves[2] = product_result(conv, shapes, p);
  p.images = input.outer[0].size;
  p.image_step = input.axes[input.outer[0].axis].stride;
  return p;
}

}  // namespace heddle
