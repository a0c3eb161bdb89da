// Convolutions as libraries of a GPU have them, computed here element by element, are what the
// program says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/conv_form.h"
#include "device/cuda/rearrange.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"
#include "random_conv.h"

namespace heddle::conv_form_tests {
namespace {

using cuda::RearrangeWork;
using random_conv::draw;
using Numbers = std::vector<double>;

Numbers rearranged(const Rearrangement& what, const Numbers& from) {
  Numbers made;
  for (std::int64_t i = 0; i < what.elements(); ++i) {
    const std::int64_t at = what.source_of(i);
    made.push_back(at < 0 ? 0 : from[static_cast<std::size_t>(at)]);
  }
  return made;
}

// What the kernel of a GPU does with it, one word after the other.
Numbers as_kernel(const Rearrangement& what, const Numbers& from) {
  const auto work = RearrangeWork::of(what, 8);
  if (!work) return rearranged(what, from);
  const auto& a = work->arguments;
  const std::int64_t together = work->word_bytes / 8;
  Numbers made;
  for (std::uint64_t i = 0; i < a.words; ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t at = a.start;
    std::vector<std::int64_t> index(a.offset, a.offset + RearrangeWork::kMostAxes);
    for (int d = a.dims - 1; d >= 0; --d) {
      const std::int64_t here = rest % a.size[d];
      rest /= a.size[d];
      if (!work->is_wide && a.size[d] > 1) {
        const auto whole = static_cast<std::uint32_t>(rest * a.size[d] + here);
        EXPECT_EQ(
            static_cast<std::int64_t>((std::uint64_t{whole} * a.inverse[d] >> 32) >> a.shift[d]),
            rest);
      }
      if (a.axis[d] < 0)
        at += here * a.stride[d];
      else
        index[static_cast<std::size_t>(a.axis[d])] += here * a.step[d];
    }
    bool there = true;
    for (int x = 0; x < a.axes; ++x) {
      const std::int64_t place = index[static_cast<std::size_t>(x)];
      there = there && place >= 0 && place < a.limit[x] && place % a.hole[x] == 0;
      at += place / a.hole[x] * a.apart[x];
    }
    for (std::int64_t k = 0; k < together; ++k)
      made.push_back(there ? from[static_cast<std::size_t>(at * together + k)] : 0);
  }
  return made;
}

// The place of an element of x, w or y in the order in which they lie.
std::size_t flat(bool channels_last, std::int64_t first, std::int64_t second,
                 std::int64_t second_size, const std::vector<std::int64_t>& spatial,
                 const std::vector<std::int64_t>& sizes) {
  std::int64_t at = first;
  if (!channels_last) at = at * second_size + second;
  for (std::size_t s = 0; s < sizes.size(); ++s) at = at * sizes[s] + spatial[s];
  if (channels_last) at = at * second_size + second;
  return static_cast<std::size_t>(at);
}

bool next(std::vector<std::int64_t>& index, const std::vector<std::int64_t>& sizes) {
  for (std::size_t d = index.size(); d-- > 0;) {
    if (++index[d] < sizes[d]) return true;
    index[d] = 0;
  }
  return false;
}

std::int64_t count(std::int64_t a, std::int64_t b, const std::vector<std::int64_t>& more) {
  for (std::int64_t m : more) b *= m;
  return a * b;
}

// What the library computes: every product of an x, a w and a y, by its definition.
Numbers computed(const ConvForm& f, const Numbers& first, const Numbers& second) {
  const std::int64_t own_channels = f.channels / f.groups, own_features = f.features / f.groups;
  Numbers result(static_cast<std::size_t>(
      f.kind == ConvKind::forward         ? count(f.batch, f.features, f.places)
      : f.kind == ConvKind::data_gradient ? count(f.batch, f.channels, f.image)
                                          : count(f.features, own_channels, f.window)));
  const std::size_t n = f.image.size();
  for (std::size_t s = 0; s < n; ++s)
    EXPECT_EQ((f.image[s] + f.padding[s] + f.padding_behind[s] - (f.window[s] - 1) * f.dilation[s] -
               1) / f.stride[s] +
                  1,
              f.places[s]);
  for (std::int64_t b = 0; b < f.batch; ++b)
    for (std::int64_t k = 0; k < f.features; ++k)
      for (std::int64_t c = 0; c < own_channels; ++c) {
        std::vector<std::int64_t> place(n, 0);
        do {
          std::vector<std::int64_t> inside(n, 0);
          do {
            std::vector<std::int64_t> image(n);
            bool there = true;
            for (std::size_t s = 0; s < n; ++s) {
              image[s] = place[s] * f.stride[s] + inside[s] * f.dilation[s] - f.padding[s];
              there = there && image[s] >= 0 && image[s] < f.image[s];
            }
            if (!there) continue;
            const std::size_t x = flat(f.channels_last, b, k / own_features * own_channels + c,
                                       f.channels, image, f.image),
                              y = flat(f.channels_last, b, k, f.features, place, f.places),
                              w = flat(f.channels_last, k, c, own_channels, inside, f.window);
            if (f.kind == ConvKind::forward) result[y] += first[x] * second[w];
            if (f.kind == ConvKind::data_gradient) result[x] += first[y] * second[w];
            if (f.kind == ConvKind::weight_gradient) result[w] += first[x] * second[y];
          } while (next(inside, f.window));
        } while (next(place, f.places));
      }
  return result;
}

Numbers computed(const ConvProduct& p, const Numbers& a, const Numbers& b) {
  Numbers c(static_cast<std::size_t>(p.groups * p.rows * p.columns));
  for (std::int64_t g = 0; g < p.groups; ++g)
    for (std::int64_t r = 0; r < p.rows; ++r)
      for (std::int64_t k = 0; k < p.depth; ++k)
        for (std::int64_t o = 0; o < p.columns; ++o) {
          const std::int64_t left = p.transposed[0] ? k * p.rows + r : r * p.depth + k;
          const std::int64_t right = p.transposed[1] ? o * p.depth + k : k * p.columns + o;
          c[static_cast<std::size_t>((g * p.rows + r) * p.columns + o)] +=
              a[static_cast<std::size_t>(g * p.rows * p.depth + left)] *
              b[static_cast<std::size_t>(g * p.columns * p.depth + right)];
        }
  return c;
}

template <typename Form>
Numbers whole(const Form& form, const Numbers& input, const Numbers& kernel) {
  Numbers made = as_kernel(form.moves[2], computed(form, as_kernel(form.moves[0], input),
                                                   as_kernel(form.moves[1], kernel)));
  if constexpr (requires { form.last_move; })
    if (form.last_move) made = as_kernel(*form.last_move, made);
  return made;
}

Numbers numbers(const Array& array) {
  return {array.as<double>().begin(), array.as<double>().end()};
}

TEST(ConvForm, EveryFormComputesIt) {
  int drawn_count = 0, uneven = 0, by_kind[3] = {};
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const auto drawn = draw(seed);
    if (!drawn) continue;
    ++drawn_count;
    const Program& program = drawn->program;
    const Op& op = program.op(program.region(program.functions[0].body).ops[0]);
    const auto conv = reduction::conv_of(program, op);
    const auto want = interpret(program, program.functions[0], drawn->arguments).value()[0];
    const ConvShapes shapes{drawn->arguments[0].shape(), drawn->arguments[1].shape(), want.shape()};
    const Numbers x = numbers(drawn->arguments[0]), w = numbers(drawn->arguments[1]);
    if (want.elements() == 0) continue;
    auto forms = conv_forms(conv, shapes);
    for (const ConvForm& form : conv_forms(conv, shapes, {}, ConvPadding::uneven)) {
      uneven += form.padding != form.padding_behind;
      forms.push_back(form);
    }
    for (const ConvForm& form : forms) {
      ++by_kind[static_cast<int>(form.kind)];
      ASSERT_EQ(whole(form, x, w), numbers(want))
          << "seed " << seed << " kind " << static_cast<int>(form.kind) << " channels last "
          << form.channels_last << "\n"
          << drawn->text;
    }
    ASSERT_EQ(whole(conv_product(conv, shapes), x, w), numbers(want)) << "seed " << seed << "\n"
                                                                      << drawn->text;
  }
  EXPECT_GT(drawn_count, 500);
  EXPECT_GT(uneven, 100);
  for (int kind : by_kind) EXPECT_GT(kind, 100);
}

TEST(ConvForm, ChannelsMayBeMore) {
  int by_kind[3] = {}, folded = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const auto drawn = draw(seed);
    if (!drawn) continue;
    const Program& program = drawn->program;
    const Op& op = program.op(program.region(program.functions[0].body).ops[0]);
    const auto want = interpret(program, program.functions[0], drawn->arguments).value()[0];
    if (want.elements() == 0) continue;
    const ConvShapes shapes{drawn->arguments[0].shape(), drawn->arguments[1].shape(), want.shape()};
    const Numbers x = numbers(drawn->arguments[0]), w = numbers(drawn->arguments[1]);
    const auto conv = reduction::conv_of(program, op);
    auto forms = conv_forms(conv, shapes, {.multiple = 4});
    for (const ConvForm& form : conv_forms(conv, shapes, {.multiple = 8, .folded = true})) {
      ASSERT_EQ(std::ranges::count(form.stride, 1), std::ssize(form.stride));
      ASSERT_EQ(form.channels % 8, 0);
      ++folded;
      forms.push_back(form);
    }
    for (const ConvForm& form : forms) {
      if (!form.channels_last || form.groups != 1) continue;
      ++by_kind[static_cast<int>(form.kind)];
      ASSERT_EQ(form.channels % 4, 0);
      ASSERT_EQ(whole(form, x, w), numbers(want))
          << "seed " << seed << " kind " << static_cast<int>(form.kind) << "\n"
          << drawn->text;
    }
  }
  for (int kind : by_kind) EXPECT_GT(kind, 10);
  EXPECT_GT(folded, 10);
}

// The three convolutions of a training step lie as the library wants them.
TEST(ConvForm, TrainingStepsMoveOnlyKernels) {
  const auto form_of = [](const std::string& text) {
    const Program program = read_stablehlo(text).value();
    const Op& op = program.op(program.region(program.functions[0].body).ops[0]);
    const auto shape = [&](ValueId v) { return program.type_of(v).shape; };
    return conv_forms(reduction::conv_of(program, op),
                      {shape(program.operands(op)[0]), shape(program.operands(op)[1]),
                       shape(program.result(op, 0))})
        .at(0);
  };
  const ConvForm forward = form_of(R"(
    func.func @main(%x: tensor<8x14x14x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<8x14x14x32xf32> {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x14x14x16xf32>, tensor<3x3x16x32xf32>) -> tensor<8x14x14x32xf32>
      return %0 : tensor<8x14x14x32xf32>
    })");
  EXPECT_EQ(forward.kind, ConvKind::forward);
  EXPECT_TRUE(forward.channels_last);
  EXPECT_EQ(forward.moved_elements(), 3 * 3 * 16 * 32);
  const ConvForm weights = form_of(R"(
    func.func @main(%x: tensor<8x14x14x16xf32>, %w: tensor<8x14x14x32xf32>) -> tensor<3x3x16x32xf32> {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x14x14x16xf32>, tensor<8x14x14x32xf32>) -> tensor<3x3x16x32xf32>
      return %0 : tensor<3x3x16x32xf32>
    })");
  EXPECT_EQ(weights.kind, ConvKind::weight_gradient);
  EXPECT_EQ(weights.moved_elements(), 3 * 3 * 16 * 32);
  const ConvForm data = form_of(R"(
    func.func @main(%x: tensor<8x7x7x32xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<8x14x14x16xf32> {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x7x7x32xf32>, tensor<3x3x16x32xf32>) -> tensor<8x14x14x16xf32>
      return %0 : tensor<8x14x14x16xf32>
    })");
  EXPECT_EQ(data.kind, ConvKind::data_gradient);
  EXPECT_EQ(data.moved_elements(), 3 * 3 * 16 * 32);
}

TEST(ConvForm, WindowsOfOneElementArePlainProducts) {
  const Program program = read_stablehlo(std::string(R"(
    func.func @main(%x: tensor<8x14x14x16xf32>, %w: tensor<1x1x16x32xf32>) -> tensor<8x14x14x32xf32> {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x14x14x16xf32>, tensor<1x1x16x32xf32>) -> tensor<8x14x14x32xf32>
      return %0 : tensor<8x14x14x32xf32>
    })"))
                              .value();
  const Op& op = program.op(program.region(program.functions[0].body).ops[0]);
  const ConvProduct p = conv_product(reduction::conv_of(program, op),
                                     {{8, 14, 14, 16}, {1, 1, 16, 32}, {8, 14, 14, 32}});
  for (const Rearrangement& move : p.moves) EXPECT_TRUE(move.is_identity());
  EXPECT_EQ(p.rows, 8 * 14 * 14);
  EXPECT_EQ(p.depth, 16);
}

// The gradient of a window of one element that goes by twos: only the result has holes.
TEST(ConvForm, HolesComeIntoTheResult) {
  const Program program = read_stablehlo(std::string(R"(
    func.func @main(%x: tensor<8x7x7x32xf32>, %w: tensor<1x1x16x32xf32>) -> tensor<8x14x14x16xf32> {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x7x7x32xf32>, tensor<1x1x16x32xf32>) -> tensor<8x14x14x16xf32>
      return %0 : tensor<8x14x14x16xf32>
    })"))
                              .value();
  const Op& op = program.op(program.region(program.functions[0].body).ops[0]);
  const ConvProduct p = conv_product(reduction::conv_of(program, op),
                                     {{8, 7, 7, 32}, {1, 1, 16, 32}, {8, 14, 14, 16}});
  EXPECT_TRUE(p.moves[0].is_identity());
  EXPECT_TRUE(p.moves[1].is_identity());
  EXPECT_FALSE(p.moves[2].is_identity());
  EXPECT_EQ(p.rows, 8 * 7 * 7);
  EXPECT_EQ(p.moves[2].source_of(0), 0);
  EXPECT_EQ(p.moves[2].source_of(16), -1);
  EXPECT_EQ(p.moves[2].source_of(32), 16);
}

}  // namespace
}  // namespace heddle::conv_form_tests
