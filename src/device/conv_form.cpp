#include "device/conv_form.h"

#include <algorithm>
#include <utility>

#include "device/conv_axes.h"

namespace heddle {

using namespace conv;

namespace {

using Axis = Rearrangement::Axis;
using Dim = Rearrangement::Dim;
using reduction::Conv;
using reduction::WindowAxis;

// Along one dimension, in terms of y = conv(x, w): y = (x + 2 padding - span) / stride + 1.
struct FormAxis {
  std::int64_t image, window, places, stride, dilation;
  std::int64_t before;  // padding that is wanted at the low end
  std::int64_t padding = 0, padding_behind = 0;
  bool is_explicit = false;  // zeros have to be written out, or elements left away
  std::int64_t fold = 1;     // neighbours that are channels; everything else is of the folded ones

  std::int64_t span() const { return (window - 1) * dilation + 1; }
};

// The same padding at both ends, where that gives as many places as there are; or what the library
// takes at the end.
void settle_padding(FormAxis& axis, bool has_holes, ConvPadding padding) {
  const std::int64_t room = axis.image + 2 * axis.before - axis.span();
  const bool is_even = room >= 0 && room / axis.stride + 1 == axis.places;
  const std::int64_t behind =
      is_even ? axis.before
              : (axis.places - 1) * axis.stride + axis.span() - axis.image - axis.before;
  // Less than a stride of the image may be left over.
  const bool fits = is_even || (padding == ConvPadding::uneven && behind > -axis.stride);
  axis.is_explicit = has_holes || axis.before < 0 || !fits;
  if (axis.is_explicit) return;
  axis.padding = axis.before;
  axis.padding_behind = std::max<std::int64_t>(behind, 0);
}

// The image as it has to be where zeros are written out.
std::int64_t whole_image(const FormAxis& axis) {
  return axis.is_explicit ? (axis.places - 1) * axis.stride + axis.span() : axis.image;
}

// Batch, features and the dimensions between or behind them.
std::vector<Dim> ordered(bool channels_last, const std::vector<Dim>& first, std::vector<Dim> second,
                         const std::vector<Dim>& spatial) {
  std::vector<Dim> dims = first;
  if (!channels_last) dims.insert(dims.end(), second.begin(), second.end());
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  if (channels_last) dims.insert(dims.end(), second.begin(), second.end());
  return dims;
}

// A dense array of which the result takes its elements: its axes in the order in which it lies.
struct Made {
  std::vector<std::int64_t> sizes;  // batch, features, spatial...
  bool channels_last;

  std::vector<Axis> axes() const {
    std::vector<Axis> axes(sizes.size());
    std::vector<std::size_t> order = {0};
    if (!channels_last) order.push_back(1);
    for (std::size_t d = 2; d < sizes.size(); ++d) order.push_back(d);
    if (channels_last) order.push_back(1);
    std::int64_t stride = 1;
    for (std::size_t i = order.size(); i-- > 0; stride *= sizes[order[i]])
      axes[order[i]] = {.size = sizes[order[i]], .stride = stride};
    return axes;
  }
};

// The result's own dimensions, each along one axis of what was made.
Rearrangement to_result(const Shape& result, const Made& made, std::int64_t batch,
                        std::int64_t feature, const std::vector<std::int64_t>& spatial) {
  Rearrangement r{.axes = made.axes(), .dims = std::vector<Dim>(result.size())};
  const auto set = [&](std::int64_t d, std::size_t axis) {
    r.dims[place(d)] = {.size = result[place(d)], .axis = axis};
  };
  set(batch, 0);
  set(feature, 1);
  for (std::size_t s = 0; s < spatial.size(); ++s) set(spatial[s], 2 + s);
  return r;
}

class FormMaker {
 public:
  FormMaker(const Conv& conv, const ConvShapes& shapes, ConvChannels channels, ConvPadding padding)
      : conv_(conv), shapes_(shapes), wish_(channels), padding_(padding) {}

  std::optional<ConvForm> make(ConvKind kind, bool channels_last) {
    form_ = {.kind = kind, .channels_last = channels_last};
    if (!set_axes() || (wish_.folded && !fold_axes())) return {};
    switch (kind) {
      case ConvKind::forward:
        forward();
        break;
      case ConvKind::data_gradient:
        data_gradient();
        break;
      case ConvKind::weight_gradient:
        weight_gradient();
        break;
    }
    add_axes();
    return form_;
  }

 private:
  std::int64_t places(std::size_t s) const {
    return shapes_.result[place(conv_.dims.output_spatial[s])];
  }

  bool set_axes() {
    axes_.clear();
    for (std::size_t s = 0; s < conv_.axes.size(); ++s) {
      const WindowAxis& w = conv_.axes[s];
      FormAxis axis{};
      switch (form_.kind) {
        case ConvKind::forward:
          axis = {w.input, w.window, places(s), w.stride, w.window_dilation, w.pad_low};
          break;
        case ConvKind::data_gradient:
          if (w.stride != 1) return false;
          axis = {places(s),         w.window,
                  w.input,           w.base_dilation,
                  w.window_dilation, (w.window - 1) * w.window_dilation - w.pad_low};
          break;
        case ConvKind::weight_gradient:
          if (w.base_dilation != 1) return false;
          axis = {w.input, places(s), w.window, w.window_dilation, w.stride, w.pad_low};
          break;
      }
      settle_padding(axis, form_.kind == ConvKind::forward && w.base_dilation != 1, padding_);
      axes_.push_back(axis);
    }
    return true;
  }

  // Strides become neighbours.
  bool fold_axes() {
    const bool is_one_group = conv_.feature_groups == 1 && conv_.batch_groups == 1;
    if (form_.kind == ConvKind::data_gradient || !form_.channels_last || !is_one_group)
      return false;
    for (std::size_t s = 0; s < axes_.size(); ++s) {
      FormAxis& axis = axes_[s];
      if (axis.dilation != 1 || conv_.axes[s].base_dilation != 1) return false;
      axis.fold = axis.stride;
      axis.window = (axis.window + axis.fold - 1) / axis.fold;
      axis.stride = 1;
      axis.padding = axis.padding_behind = 0;
      axis.is_explicit = true;
    }
    return folds() > 1;
  }
  std::int64_t folds() const {
    std::int64_t all = 1;
    for (const FormAxis& axis : axes_) all *= axis.fold;
    return all;
  }

  // The image with its zeros, where they have to be written out.
  std::vector<Dim> images(std::vector<Axis>& axes) const {
    std::vector<Dim> dims;
    for (std::size_t s = 0; s < axes_.size(); ++s) {
      const std::size_t d = place(conv_.dims.input_spatial[s]);
      if (axes_[s].is_explicit) axes[d].offset = -axes_[s].before;
      axes[d].hole = conv_.axes[s].base_dilation;
      dims.push_back({.size = whole_image(axes_[s]), .axis = d, .step = axes_[s].fold});
    }
    return dims;
  }

  std::vector<Dim> windows(std::vector<Axis>& axes, bool turned) const {
    std::vector<Dim> dims;
    for (std::size_t s = 0; s < axes_.size(); ++s) {
      const std::int64_t d = conv_.dims.kernel_spatial[s];
      dims.push_back(conv_.reversed[s] != turned ? flipped(axes, d) : whole(axes, d));
    }
    return dims;
  }

  // Channels with the neighbours that are some too: `spatial` are where those go along.
  std::vector<Dim> with_folds(const std::vector<Dim>& spatial, Dim channel) const {
    std::vector<Dim> dims;
    for (std::size_t s = 0; s < axes_.size(); ++s)
      if (axes_[s].fold > 1)
        dims.push_back({axes_[s].fold, spatial[s].axis, spatial[s].step < 0 ? -1 : 1});
    dims.push_back(channel);
    return dims;
  }

  // As many as the library is to see, and of these those beside each neighbour.
  std::int64_t channels_of(std::int64_t own) const {
    if (!form_.channels_last || form_.groups != 1) return own;
    std::int64_t beside = own;
    while (beside * folds() % wish_.multiple != 0) ++beside;
    return beside * folds();
  }
  std::int64_t channels_beside() const { return form_.channels / folds(); }

  Rearrangement input(bool is_batch_first) const {
    Rearrangement r{.axes = axes_of(shapes_.input), .dims = {}};
    Dim n = whole(r.axes, conv_.dims.input_batch), f = whole(r.axes, conv_.dims.input_feature);
    if (!is_batch_first) std::swap(n, f);
    const bool is_y = form_.kind == ConvKind::data_gradient;
    if (!is_y) f.size = channels_beside();
    std::vector<Dim> spatial;
    if (is_y)
      for (std::int64_t d : conv_.dims.input_spatial) spatial.push_back(whole(r.axes, d));
    else
      spatial = images(r.axes);
    r.dims = ordered(form_.channels_last, {n}, with_folds(spatial, f), spatial);
    return r;
  }

  std::vector<std::int64_t> sizes_of(std::int64_t first, std::int64_t second,
                                     std::int64_t FormAxis::* spatial) const {
    std::vector<std::int64_t> sizes = {first, second};
    for (const FormAxis& axis : axes_) sizes.push_back(axis.*spatial);
    return sizes;
  }

  void forward() {
    form_.batch = shapes_.input[place(conv_.dims.input_batch)];
    form_.features = shapes_.kernel[place(conv_.dims.kernel_output)];
    form_.groups = conv_.feature_groups;
    form_.channels = channels_of(shapes_.input[place(conv_.dims.input_feature)]);
    form_.moves[0] = input(true);
    Rearrangement w{.axes = axes_of(shapes_.kernel), .dims = {}};
    auto spatial = windows(w.axes, false);
    for (std::size_t s = 0; s < axes_.size(); ++s) {
      spatial[s].size = axes_[s].window;
      spatial[s].step *= axes_[s].fold;
    }
    Dim channel = whole(w.axes, conv_.dims.kernel_input);
    channel.size = channels_beside() / form_.groups;
    w.dims = ordered(form_.channels_last, {whole(w.axes, conv_.dims.kernel_output)},
                     with_folds(spatial, channel), spatial);
    form_.moves[1] = w;
    const Made y{sizes_of(form_.batch, form_.features, &FormAxis::places), form_.channels_last};
    form_.moves[2] = to_result(shapes_.result, y, conv_.dims.output_batch,
                               conv_.dims.output_feature, conv_.dims.output_spatial);
  }

  // The input is y, the result x. The kernel of a group gives its channels to each of its features.
  void data_gradient() {
    const std::int64_t groups = conv_.feature_groups;
    form_.batch = shapes_.input[place(conv_.dims.input_batch)];
    form_.features = shapes_.input[place(conv_.dims.input_feature)];
    form_.groups = groups;
    form_.channels = channels_of(shapes_.kernel[place(conv_.dims.kernel_output)]);
    form_.moves[0] = input(true);
    Rearrangement w{.axes = axes_of(shapes_.kernel), .dims = {}};
    const auto spatial = windows(w.axes, true);
    const Dim group{groups, place(conv_.dims.kernel_output), form_.channels / groups};
    const Dim channel{form_.channels / groups, place(conv_.dims.kernel_output), 1};
    w.dims = ordered(form_.channels_last, {group, whole(w.axes, conv_.dims.kernel_input)},
                     {channel}, spatial);
    form_.moves[1] = w;
    Made x{sizes_of(form_.batch, form_.channels, &FormAxis::image), form_.channels_last};
    for (std::size_t s = 0; s < axes_.size(); ++s) x.sizes[2 + s] = whole_image(axes_[s]);
    form_.moves[2] = to_result(shapes_.result, x, conv_.dims.output_batch,
                               conv_.dims.output_feature, conv_.dims.output_spatial);
    for (std::size_t s = 0; s < axes_.size(); ++s)
      if (axes_[s].is_explicit) form_.moves[2].axes[2 + s].offset = axes_[s].before;
  }

  // The input is x, whose features are images; the kernel is y.
  void weight_gradient() {
    form_.batch = shapes_.input[place(conv_.dims.input_feature)];
    form_.features = shapes_.kernel[place(conv_.dims.kernel_output)];
    form_.groups = conv_.batch_groups;
    form_.channels = channels_of(shapes_.input[place(conv_.dims.input_batch)]);
    form_.moves[0] = input(false);
    Rearrangement y{.axes = axes_of(shapes_.kernel), .dims = {}};
    const auto spatial = windows(y.axes, false);
    y.dims = ordered(form_.channels_last, {whole(y.axes, conv_.dims.kernel_input)},
                     {whole(y.axes, conv_.dims.kernel_output)}, spatial);
    form_.moves[1] = y;
    if (folds() > 1) return unfold_weights();
    const Made w{sizes_of(form_.features, form_.channels / form_.groups, &FormAxis::window),
                 form_.channels_last};
    form_.moves[2] = to_result(shapes_.result, w, conv_.dims.output_feature,
                               conv_.dims.output_batch, conv_.dims.output_spatial);
  }

  // First all neighbours come to their places, then the window is cut to its own size.
  void unfold_weights() {
    Shape made = {form_.features};  // as the library writes it
    for (const FormAxis& axis : axes_) made.push_back(axis.window);
    const std::size_t first_fold = made.size();
    for (const FormAxis& axis : axes_) made.push_back(axis.fold);
    made.push_back(channels_beside());
    Rearrangement all{.axes = axes_of(made), .dims = {}};
    Shape whole_window = shapes_.result;
    std::vector<std::size_t> spatial(shapes_.result.size(), axes_.size());
    for (std::size_t s = 0; s < axes_.size(); ++s) spatial[place(conv_.dims.output_spatial[s])] = s;
    for (std::size_t d = 0; d < shapes_.result.size(); ++d) {
      const std::size_t s = spatial[d];
      if (s < axes_.size()) {
        all.dims.push_back({.size = axes_[s].window, .axis = 1 + s});
        all.dims.push_back({.size = axes_[s].fold, .axis = first_fold + s});
        whole_window[d] = axes_[s].window * axes_[s].fold;
      } else {
        const bool is_feature = d == place(conv_.dims.output_feature);
        const std::size_t axis = is_feature ? 0 : made.size() - 1;
        all.dims.push_back({.size = made[axis], .axis = axis});
        whole_window[d] = made[axis];
      }
    }
    form_.moves[2] = all;
    Rearrangement cut{.axes = axes_of(whole_window), .dims = {}};
    for (std::size_t d = 0; d < shapes_.result.size(); ++d)
      cut.dims.push_back({.size = shapes_.result[d], .axis = d});
    form_.last_move = cut;
  }

  // Libraries have two or three dimensions.
  void add_axes() {
    for (std::size_t s = axes_.size(); s < 2; ++s) axes_.insert(axes_.begin(), {1, 1, 1, 1, 1, 0});
    for (const FormAxis& axis : axes_) {
      form_.image.push_back(whole_image(axis));
      form_.window.push_back(axis.window);
      form_.places.push_back(axis.places);
      form_.stride.push_back(axis.stride);
      form_.dilation.push_back(axis.dilation);
      form_.padding.push_back(axis.padding);
      form_.padding_behind.push_back(axis.padding_behind);
    }
  }

  const Conv& conv_;
  const ConvShapes& shapes_;
  const ConvChannels wish_;
  const ConvPadding padding_;
  ConvForm form_;
  std::vector<FormAxis> axes_;
};

// With holes in the input it is the gradient of a convolution with a stride; with a window that is
// larger than what it leaves, that of a kernel.
std::vector<ConvKind> kinds_of(const Conv& conv, const ConvShapes& shapes) {
  bool has_holes = false;
  std::int64_t window = 1, places = 1;
  for (std::size_t s = 0; s < conv.axes.size(); ++s) {
    has_holes = has_holes || conv.axes[s].base_dilation != 1;
    window *= conv.axes[s].window;
    places *= shapes.result[place(conv.dims.output_spatial[s])];
  }
  if (conv.batch_groups != 1) return {ConvKind::weight_gradient};
  if (has_holes) return {ConvKind::data_gradient, ConvKind::forward};
  if (window > places && conv.feature_groups == 1)
    return {ConvKind::weight_gradient, ConvKind::forward};
  return {ConvKind::forward};
}

}  // namespace

std::int64_t ConvForm::moved_elements() const {
  std::int64_t count = 0;
  for (const Rearrangement& move : moves) count += move.is_identity() ? 0 : move.elements();
  return count;
}

std::vector<ConvForm> conv_forms(const Conv& conv, const ConvShapes& shapes, ConvChannels channels,
                                 ConvPadding padding) {
  std::vector<ConvForm> forms;
  if (conv.axes.size() > 3) return forms;
  FormMaker maker(conv, shapes, channels, padding);
  for (ConvKind kind : kinds_of(conv, shapes)) {
    std::vector<ConvForm> both;
    for (bool channels_last : {true, false})
      if (auto form = maker.make(kind, channels_last)) both.push_back(*std::move(form));
    if (both.size() == 2 && both[1].moved_elements() < both[0].moved_elements())
      std::swap(both[0], both[1]);
    forms.insert(forms.end(), both.begin(), both.end());
  }
  return forms;
}

}  // namespace heddle
