// Convolutions by oneDNN, in slices for any number of workers, give what the interpreter gives.
#include <gtest/gtest.h>

#include "random_conv.h"
#include "run_call.h"

namespace heddle::conv_direct_tests {
namespace {

using random_conv::Dice;
using random_conv::Drawn;
using random_conv::filled;
using random_conv::tensor;
using run_call::same;

struct Sizes {
  std::int64_t batch, image, channels, features, window, stride, dilation, low, places;

  // Nothing where the window does not fit.
  static std::optional<Sizes> draw(Dice& dice) {
    Sizes s{dice.from(1, 3),
            dice.from(5, 17),
            dice.from(1, 3) * dice.from(1, 16),
            dice.from(1, 3) * dice.from(1, 16),
            dice.from(1, 3),
            dice.from(1, 2),
            dice.from(1, 2),
            0,
            0};
    s.low = dice.from(0, s.span() - 1);
    const std::int64_t room = s.image + s.low + dice.from(0, s.span() - 1) - s.span();
    s.places = room / s.stride + 1;
    return room < 0 ? std::nullopt : std::optional(s);
  }
  std::int64_t span() const { return (window - 1) * dilation + 1; }
  // What of the padding behind the places need.
  std::int64_t high() const { return (places - 1) * stride + span() - image - low; }

  Shape x() const { return {batch, image, image + 1, channels}; }
  Shape w() const { return {window, 1, channels, features}; }
  Shape y() const { return {batch, places, image + 1, features}; }
};

Drawn made(const std::string& numbers, const std::string& settings, const Shape& a, const Shape& b,
           const Shape& result, DType dtype, Dice& dice) {
  Drawn drawn;
  drawn.text = fmt::format(
      R"(func.func @main(%a: {0}, %b: {1}) -> {2} {{
  %0 = stablehlo.convolution(%a, %b) dim_numbers = {3}, window = {{{4}}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({0}, {1}) -> {2}
  return %0 : {2}
}})",
      tensor(a, dtype), tensor(b, dtype), tensor(result, dtype), numbers, settings);
  drawn.program = read_stablehlo(drawn.text).value();
  drawn.arguments = {filled(a, dtype, dice), filled(b, dtype, dice)};
  return drawn;
}

Drawn forward(const Sizes& s, DType dtype, Dice& dice) {
  return made("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
              fmt::format("stride = [{}, 1], pad = [[{}, {}], [0, 0]], rhs_dilate = [{}, 1]",
                          s.stride, s.low, s.high(), s.dilation),
              s.x(), s.w(), s.y(), dtype, dice);
}

// As a derivative by x is written: y with holes, and the kernel turned over.
Drawn data_gradient(const Sizes& s, DType dtype, Dice& dice) {
  const std::int64_t low = s.span() - 1 - s.low,
                     high = s.image - (s.places - 1) * s.stride - 1 + s.low;
  return made("[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]",
              fmt::format("stride = [1, 1], pad = [[{}, {}], [0, 0]], lhs_dilate = [{}, 1], "
                          "rhs_dilate = [{}, 1], reverse = [true, true]",
                          low, high, s.stride, s.dilation),
              s.y(), s.w(), s.x(), dtype, dice);
}

Drawn kernel_gradient(const Sizes& s, DType dtype, Dice& dice) {
  return made("[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]",
              fmt::format("stride = [{}, 1], pad = [[{}, {}], [0, 0]], rhs_dilate = [{}, 1]",
                          s.dilation, s.low, s.high(), s.stride),
              s.x(), s.y(), s.w(), dtype, dice);
}

// Channels first, as other frameworks have it.
Drawn channels_first(const Sizes& s, DType dtype, Dice& dice) {
  const auto turned = [](const Shape& a) { return Shape{a[0], a[3], a[1], a[2]}; };
  return made("[b, f, 0, 1]x[0, 1, i, o]->[b, f, 0, 1]",
              fmt::format("stride = [{}, 1], pad = [[{}, {}], [0, 0]], rhs_dilate = [{}, 1]",
                          s.stride, s.low, s.high(), s.dilation),
              turned(s.x()), s.w(), turned(s.y()), dtype, dice);
}

// Nothing where oneDNN has no fast way.
std::optional<Array> by_library(const Drawn& drawn, const Type& type, int workers) {
  const auto call = cpu::direct_conv_call(drawn.program, run_call::only_op(drawn.program), workers);
  if (!call) return {};
  return run_call::result_of(*call, drawn.arguments, type, workers);
}

using Make = Drawn (*)(const Sizes&, DType, Dice&);

// How many of them the library took.
int expect_as_interpreted(Make make, DType dtype, unsigned cases) {
  int taken = 0;
  for (unsigned seed = 0; seed < cases; ++seed) {
    Dice dice(seed);
    const auto sizes = Sizes::draw(dice);
    if (!sizes) continue;
    const Drawn drawn = make(*sizes, dtype, dice);
    const Array want =
        interpret(drawn.program, drawn.program.functions[0], drawn.arguments).value()[0];
    const int workers = std::array{1, 2, 3, 7, 16}[seed % 5];
    const auto got = by_library(drawn, want.type(), workers);
    if (!got) continue;
    ++taken;
    EXPECT_TRUE(same(*got, want)) << "seed " << seed << ", " << workers << " workers\n"
                                  << drawn.text;
  }
  return taken;
}

TEST(DirectConv, ForwardIsAsInterpreted) {
  HEDDLE_NEEDS_ONEDNN();
  EXPECT_GT(expect_as_interpreted(forward, DType::f32, 60), 20);
}
TEST(DirectConv, GradientOfTheInputIsAsInterpreted) {
  HEDDLE_NEEDS_ONEDNN();
  EXPECT_GT(expect_as_interpreted(data_gradient, DType::f32, 60), 20);
}
TEST(DirectConv, GradientOfTheKernelIsAsInterpreted) {
  HEDDLE_NEEDS_ONEDNN();
  EXPECT_GT(expect_as_interpreted(kernel_gradient, DType::f32, 60), 20);
}
TEST(DirectConv, ChannelsMayLieFirst) {
  HEDDLE_NEEDS_ONEDNN();
  EXPECT_GT(expect_as_interpreted(channels_first, DType::f32, 60), 20);
}
// Where the processor has no instructions for it, the library has no fast way.
TEST(DirectConv, ShortFloatsAreRoundedOnce) {
  HEDDLE_NEEDS_ONEDNN();
  for (Make make : {forward, data_gradient, kernel_gradient})
    expect_as_interpreted(make, DType::bf16, 40);
}

TEST(DirectConv, NoElementsAreForOthers) {
  Dice dice(1);
  for (const Sizes& s : {Sizes{0, 8, 4, 4, 3, 1, 1, 1, 8}, Sizes{2, 8, 0, 4, 3, 1, 1, 1, 8},
                         Sizes{2, 8, 4, 0, 3, 1, 1, 1, 8}}) {
    const Drawn drawn = forward(s, DType::f32, dice);
    EXPECT_EQ(cpu::direct_conv_call(drawn.program, run_call::only_op(drawn.program), 2), nullptr);
  }
}

// Everything that a program may say: most of it the library does not take.
TEST(DirectConv, WhatItTakesOfAnyConvolutionIsAsInterpreted) {
  HEDDLE_NEEDS_ONEDNN();
  int taken = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const auto drawn = random_conv::draw(seed, DType::f32);
    if (!drawn) continue;
    const Array want =
        interpret(drawn->program, drawn->program.functions[0], drawn->arguments).value()[0];
    const auto got = by_library(*drawn, want.type(), 1 + static_cast<int>(seed % 4));
    if (!got) continue;
    ++taken;
    ASSERT_TRUE(same(*got, want)) << "seed " << seed << "\n" << drawn->text;
  }
  EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace heddle::conv_direct_tests
