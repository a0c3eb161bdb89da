// A convolution as a library has it: the forward one, or one of its two gradients; or as
// one matrix product. What does not lie as they want it is rearranged before and after.
#pragma once

#include <array>
#include <optional>

#include "device/rearrangement.h"
#include "ir/eval/conv.h"

namespace heddle {

struct ConvShapes {
  Shape input, kernel, result;
};

// Of y = conv(x, w): which of the three is computed from the two others.
enum class ConvKind : std::uint8_t { forward, data_gradient, weight_gradient };

struct ConvForm {
  ConvKind kind = ConvKind::forward;
  // x is batch, channels, image...; w is features, channels / groups, window...; y is batch,
  // features, places...
  std::int64_t batch = 1, channels = 1, features = 1, groups = 1;
  std::vector<std::int64_t> image = {}, window = {}, places = {};
  std::vector<std::int64_t> stride = {}, dilation = {}, padding = {};
  std::vector<std::int64_t> padding_behind = {};  // the same, unless it may be uneven
  bool channels_last = true;  // how all three lie: (batch, image..., channels), or channels second

  // From the operands to what the library reads, and from what it writes to the result; a second
  // time where one rearrangement cannot do that.
  std::array<Rearrangement, 3> moves = {};
  std::optional<Rearrangement> last_move = {};
  std::int64_t moved_elements() const;  // of those that are no identity
};

// What a library is to see in place of few channels.
struct ConvChannels {
  std::int64_t multiple = 1;  // of so many, by zeros
  // What a stride of s steps over are channels of their own: s by s neighbours, each with the
  // channels that it has. The window is s times smaller, and goes one by one.
  bool folded = false;
};

// Whether a library takes other padding at the end than at the beginning.
enum class ConvPadding : std::uint8_t { even, uneven };

// Those that compute it, the best first; none where a library has no such convolution. Channels
// change where they lie last and there is one group of them; a form that cannot be folded is not
// there.
std::vector<ConvForm> conv_forms(const reduction::Conv& conv, const ConvShapes& shapes,
                                 ConvChannels channels = {},
                                 ConvPadding padding = ConvPadding::even);

// The same as a batch of products of windows with the kernel: C[g] = A[g] B[g], rows x depth by
// depth x columns.
struct ConvProduct {
  std::int64_t groups = 1, rows = 1, depth = 1, columns = 1;
  std::array<bool, 2> transposed = {};      // A is depth x rows, B is columns x depth
  std::array<Rearrangement, 3> moves;       // to A, to B, from C to the result
  std::int64_t images = 1, image_step = 0;  // rows go by images, so far apart in the input
};
ConvProduct conv_product(const reduction::Conv& conv, const ConvShapes& shapes);

}  // namespace heddle
