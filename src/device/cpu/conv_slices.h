// A convolution cut into smaller ones, one after the other or at the same time: by images, and by
// rows of their result where images are few; that of a kernel's gradient by channels.
#pragma once

#include <optional>
#include <vector>

#include "device/conv_form.h"

namespace heddle::cpu {

struct ConvSlice {
  std::int64_t first_image = 0, images = 1;
  // Along the first spatial dimension, of what is read and of what is written.
  std::int64_t first_read = 0, rows_read = 0, first_row = 0, rows = 0;
  std::int64_t padding = 0, padding_behind = 0;

  // Whether one call computes both.
  bool is_like(const ConvSlice& other) const {
    return images == other.images && rows_read == other.rows_read && rows == other.rows &&
           padding == other.padding && padding_behind == other.padding_behind;
  }
};

// At least so many slices, where there are so many rows; of a forward convolution or a gradient of
// its input.
std::vector<ConvSlice> slice_conv(const ConvForm& form, std::int64_t wanted);

// Channels that a kernel's gradient has to itself.
struct ChannelSlice {
  std::int64_t first_feature = 0, features = 0, first_channel = 0, channels = 0;
};

// In multiples of what a vector holds; features before channels.
std::vector<ChannelSlice> slice_channels(const ConvForm& form, std::int64_t wanted);

}  // namespace heddle::cpu
