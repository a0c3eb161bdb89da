#include "device/cpu/conv_slices.h"

#include <algorithm>

namespace heddle::cpu {

namespace {

// Rows that share nothing are at least so many, so that a call has something to do.
constexpr std::int64_t kLeastRows = 4;
constexpr std::int64_t kLanes = 16;

std::int64_t rounded_down(std::int64_t a, std::int64_t by) {
  return a >= 0 ? a / by * by : -((-a + by - 1) / by * by);
}

// Rows first … last - 1 of the result of a forward convolution.
std::optional<ConvSlice> rows_of_places(const ConvForm& f, std::int64_t first, std::int64_t last) {
  const std::int64_t span = (f.window[0] - 1) * f.dilation[0] + 1;
  const std::int64_t begin = first * f.stride[0] - f.padding[0];
  const std::int64_t end = (last - 1) * f.stride[0] - f.padding[0] + span;
  const std::int64_t low = std::max<std::int64_t>(begin, 0), high = std::min(end, f.image[0]);
  if (high <= low) return {};
  return ConvSlice{.first_read = low,
                   .rows_read = high - low,
                   .first_row = first,
                   .rows = last - first,
                   .padding = low - begin,
                   .padding_behind = end - high};
}

// Rows of an image, from the places that saw them.
std::optional<ConvSlice> rows_of_image(const ConvForm& f, std::int64_t first, std::int64_t last) {
  const std::int64_t span = (f.window[0] - 1) * f.dilation[0] + 1, stride = f.stride[0];
  const std::int64_t before = first + f.padding[0] - (span - 1);
  const std::int64_t low =
      std::max<std::int64_t>(0, rounded_down(before + stride - 1, stride) / stride);
  const std::int64_t high = std::min(f.places[0], (last - 1 + f.padding[0]) / stride + 1);
  if (high <= low) return {};
  const std::int64_t padding = f.padding[0] + first - low * stride;
  const std::int64_t behind = (high - low - 1) * stride + span - (last - first) - padding;
  if (padding < 0 || behind <= -stride) return {};
  return ConvSlice{.first_read = low,
                   .rows_read = high - low,
                   .first_row = first,
                   .rows = last - first,
                   .padding = padding,
                   .padding_behind = std::max<std::int64_t>(behind, 0)};
}

// An image in so many parts; nothing where one of them cannot stand alone.
std::vector<ConvSlice> parts_of_image(const ConvForm& f, std::int64_t parts) {
  const bool forward = f.kind == ConvKind::forward;
  const std::int64_t rows = forward ? f.places[0] : f.image[0];
  const std::int64_t unit = forward ? 1 : f.stride[0];
  std::vector<ConvSlice> all;
  for (std::int64_t p = 0; p < parts; ++p) {
    const std::int64_t first = rows * p / parts / unit * unit;
    const std::int64_t last = p + 1 == parts ? rows : rows * (p + 1) / parts / unit * unit;
    if (first == last) continue;
    const auto slice = forward ? rows_of_places(f, first, last) : rows_of_image(f, first, last);
    if (!slice) return {};
    all.push_back(*slice);
  }
  return all;
}

ConvSlice whole_image(const ConvForm& f) {
  const bool forward = f.kind == ConvKind::forward;
  return {.rows_read = forward ? f.image[0] : f.places[0],
          .rows = forward ? f.places[0] : f.image[0],
          .padding = f.padding[0],
          .padding_behind = f.padding_behind[0]};
}

}  // namespace

std::vector<ConvSlice> slice_conv(const ConvForm& form, std::int64_t wanted) {
  const ConvSlice whole = whole_image(form);
  std::vector<ConvSlice> slices;
  if (form.batch < wanted) {
    const std::int64_t parts =
        std::min((wanted + form.batch - 1) / form.batch, whole.rows / kLeastRows);
    std::vector<ConvSlice> of_image;
    if (parts > 1) of_image = parts_of_image(form, parts);
    if (of_image.empty()) of_image = {whole};
    for (std::int64_t image = 0; image < form.batch; ++image)
      for (ConvSlice slice : of_image) {
        slice.first_image = image;
        slices.push_back(slice);
      }
    return slices;
  }
  for (std::int64_t p = 0; p < wanted; ++p) {
    ConvSlice slice = whole;
    slice.first_image = form.batch * p / wanted;
    slice.images = form.batch * (p + 1) / wanted - slice.first_image;
    slices.push_back(slice);
  }
  return slices;
}

std::vector<ChannelSlice> slice_channels(const ConvForm& form, std::int64_t wanted) {
  const auto most = [](std::int64_t count) { return std::max<std::int64_t>(1, count / kLanes); };
  const std::int64_t features = std::min(wanted, most(form.features));
  const std::int64_t channels = std::min((wanted + features - 1) / features, most(form.channels));
  const auto border = [](std::int64_t count, std::int64_t part, std::int64_t parts) {
    return part == parts ? count : count * part / parts / kLanes * kLanes;
  };
  std::vector<ChannelSlice> slices;
  for (std::int64_t f = 0; f < features; ++f)
    for (std::int64_t c = 0; c < channels; ++c) {
      ChannelSlice slice;
      slice.first_feature = border(form.features, f, features);
      slice.features = border(form.features, f + 1, features) - slice.first_feature;
      slice.first_channel = border(form.channels, c, channels);
      slice.channels = border(form.channels, c + 1, channels) - slice.first_channel;
      slices.push_back(slice);
    }
  return slices;
}

}  // namespace heddle::cpu
