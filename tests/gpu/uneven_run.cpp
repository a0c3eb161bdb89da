// Products whose rows have an odd number of 16-bit floats, and numbers that are rounded late.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"
#include "ir/eval/scalar.h"

namespace heddle::uneven_tests {
namespace {

class GpuUneven : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  }
};

// -1, 0 or 1, so that all sums are exact in every type.
Array small_numbers(const Type& type, std::uint64_t seed) {
  Array array(type);
  dispatch(type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T& x : array.template as_mutable<T>()) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      x = convert_scalar<T>(static_cast<std::int32_t>((seed >> 40) % 3) - 1);
    }
  });
  return array;
}

// Logits of an odd vocabulary, what is wrong with them, and both gradients.
std::string vocabulary(std::string_view type) {
  return fmt::format(R"(
    func.func @main(%x: tensor<4x256x512x{0}>, %w: tensor<2001x512x{0}>)
        -> (tensor<2001x512xf32>, tensor<4x256x512xf32>, tensor<4x256xf32>) {{
      %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<2001x512x{0}>) -> tensor<512x2001x{0}>
      %y = stablehlo.dot_general %x, %t, contracting_dims = [2] x [0]
        : (tensor<4x256x512x{0}>, tensor<512x2001x{0}>) -> tensor<4x256x2001x{0}>
      %low = stablehlo.constant dense<-2.0> : tensor<{0}>
      %high = stablehlo.constant dense<2.0> : tensor<{0}>
      %d = stablehlo.clamp %low, %y, %high
        : (tensor<{0}>, tensor<4x256x2001x{0}>, tensor<{0}>) -> tensor<4x256x2001x{0}>
      %dw = stablehlo.dot_general %d, %x, contracting_dims = [0, 1] x [0, 1]
        : (tensor<4x256x2001x{0}>, tensor<4x256x512x{0}>) -> tensor<2001x512xf32>
      %dx = stablehlo.dot_general %d, %t, contracting_dims = [2] x [1]
        : (tensor<4x256x2001x{0}>, tensor<512x2001x{0}>) -> tensor<4x256x512xf32>
      %wide = stablehlo.convert %y : (tensor<4x256x2001x{0}>) -> tensor<4x256x2001xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %sum = stablehlo.reduce(%wide init: %zero) applies stablehlo.add across dimensions = [2]
        : (tensor<4x256x2001xf32>, tensor<f32>) -> tensor<4x256xf32>
      return %dw, %dx, %sum : tensor<2001x512xf32>, tensor<4x256x512xf32>, tensor<4x256xf32>
    }})",
                     type);
}

std::vector<Array> arguments_for(DType type) {
  return {small_numbers(Type::tensor(type, {4, 256, 512}), 1),
          small_numbers(Type::tensor(type, {2001, 512}), 2)};
}

TEST_P(GpuUneven, ProductsAgreeWithThoseOfTheHost) {
  const DType type = parse_dtype(GetParam()).value();
  const Executable on_host =
      compile(read_stablehlo(vocabulary("f32")).value(), CompileOptions{}).value();
  const auto wanted = on_host.run(arguments_for(DType::f32)).value();
  Target target;
  target.options.device = *gpu::device();
  const Executable executable =
      compile(read_stablehlo(vocabulary(GetParam())).value(), target).value();
  // The result is written with even rows, and sums over the vocabulary have zeros at their end.
  for (const char* sizes : {"1024x2008x512", "1024x512x2008"})
    EXPECT_TRUE(std::ranges::any_of(executable.steps(), [&](const StepInfo& step) {
      return step.name.find(sizes) != std::string::npos;
    })) << sizes;
  for (int turn = 0; turn < 3; ++turn)
    EXPECT_EQ(executable.run(arguments_for(type)).value(), wanted);
}

INSTANTIATE_TEST_SUITE_P(Types, GpuUneven, ::testing::Values("bf16", "f16"));

// The loss of an odd vocabulary and its gradient, in one kernel over rows that lie apart; the
// labels are one place further than the rows.
std::string loss_text(std::string_view type) {
  std::string text = R"(
    func.func @main(%x: tensor<2x256x512xTYPE>, %w: tensor<8201x512xTYPE>, %l: tensor<2x257xi32>)
        -> (tensor<f32>, tensor<2x256x512xTYPE>) {
      %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<8201x512xTYPE>) -> tensor<512x8201xTYPE>
      %y = stablehlo.dot_general %x, %t, contracting_dims = [2] x [0]
        : (tensor<2x256x512xTYPE>, tensor<512x8201xTYPE>) -> tensor<2x256x8201xTYPE>
      %f = stablehlo.convert %y : (tensor<2x256x8201xTYPE>) -> tensor<2x256x8201xf32>
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %m = stablehlo.reduce(%f init: %low) applies stablehlo.maximum across dimensions = [2]
        : (tensor<2x256x8201xf32>, tensor<f32>) -> tensor<2x256xf32>
      %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x256xf32>) -> tensor<2x256x8201xf32>
      %c = stablehlo.subtract %f, %mb : tensor<2x256x8201xf32>
      %e = stablehlo.exponential %c : tensor<2x256x8201xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2]
        : (tensor<2x256x8201xf32>, tensor<f32>) -> tensor<2x256xf32>
      %sb = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<2x256xf32>) -> tensor<2x256x8201xf32>
      %p = stablehlo.divide %e, %sb : tensor<2x256x8201xf32>
      %at = stablehlo.slice %l [0:2, 1:257] : (tensor<2x257xi32>) -> tensor<2x256xi32>
      %ab = stablehlo.broadcast_in_dim %at, dims = [0, 1] : (tensor<2x256xi32>) -> tensor<2x256x8201xi32>
      %i = stablehlo.iota dim = 2 : tensor<2x256x8201xi32>
      %is = stablehlo.compare EQ, %i, %ab, SIGNED
        : (tensor<2x256x8201xi32>, tensor<2x256x8201xi32>) -> tensor<2x256x8201xi1>
      %hot = stablehlo.convert %is : (tensor<2x256x8201xi1>) -> tensor<2x256x8201xf32>
      %d = stablehlo.subtract %p, %hot : tensor<2x256x8201xf32>
      %dn = stablehlo.convert %d : (tensor<2x256x8201xf32>) -> tensor<2x256x8201xTYPE>
      %dx = stablehlo.dot_general %dn, %t, contracting_dims = [2] x [1]
        : (tensor<2x256x8201xTYPE>, tensor<512x8201xTYPE>) -> tensor<2x256x512xTYPE>
      %log = stablehlo.log %s : tensor<2x256xf32>
      %all = stablehlo.add %log, %m : tensor<2x256xf32>
      %loss = stablehlo.reduce(%all init: %zero) applies stablehlo.add across dimensions = [0, 1]
        : (tensor<2x256xf32>, tensor<f32>) -> tensor<f32>
      return %loss, %dx : tensor<f32>, tensor<2x256x512xTYPE>
    })";
  for (std::size_t at; (at = text.find("TYPE")) != std::string::npos;) text.replace(at, 4, type);
  return text;
}

TEST_P(GpuUneven, LossesAgreeWithThoseOfTheHost) {
  const auto arguments = [](DType type) {
    Array labels(Type::tensor(DType::i32, {2, 257}));
    std::int32_t next = 7;
    for (std::int32_t& x : labels.as_mutable<std::int32_t>()) x = next = (next * 31 + 5) % 8201;
    return std::vector<Array>{small_numbers(Type::tensor(type, {2, 256, 512}), 3),
                              small_numbers(Type::tensor(type, {8201, 512}), 4), labels};
  };
  const auto wanted = compile(read_stablehlo(loss_text("f32")).value(), CompileOptions{})
                          .value()
                          .run(arguments(DType::f32))
                          .value();
  Target target;
  target.options.device = *gpu::device();
  const DType type = parse_dtype(GetParam()).value();
  const Executable executable =
      compile(read_stablehlo(loss_text(GetParam())).value(), target).value();
  EXPECT_TRUE(std::ranges::any_of(executable.steps(), [](const StepInfo& step) {
    return step.name.find("512x512x8208") != std::string::npos;
  }));
  const auto got = executable.run(arguments(type)).value();
  EXPECT_EQ(executable.run(arguments(type)).value(), got);
  EXPECT_NEAR(got[0].as<float>()[0], wanted[0].as<float>()[0],
              1e-4 * std::abs(wanted[0].as<float>()[0]));
  dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::size_t i = 0; i < wanted[1].as<float>().size(); ++i)
      ASSERT_NEAR(convert_scalar<double>(got[1].as<T>()[i]), wanted[1].as<float>()[i], 0.05) << i;
  });
}

// A sum of products is as near as f32 has it, rounded once; a comparison of two numbers is of those
// that were rounded.
TEST(GpuRounding, IsDoneWhereNumbersAreKept) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  const Program program = read_stablehlo(R"(
    func.func @main(%x: tensor<4096xbf16>, %y: tensor<4096xbf16>)
        -> (tensor<4096xbf16>, tensor<4096xi1>) {
      %p = stablehlo.multiply %x, %x : tensor<4096xbf16>
      %q = stablehlo.multiply %y, %y : tensor<4096xbf16>
      %s = stablehlo.subtract %p, %q : tensor<4096xbf16>
      %a = stablehlo.multiply %x, %y : tensor<4096xbf16>
      %b = stablehlo.add %a, %y : tensor<4096xbf16>
      %c = stablehlo.compare EQ, %b, %x, FLOAT
        : (tensor<4096xbf16>, tensor<4096xbf16>) -> tensor<4096xi1>
      return %s, %c : tensor<4096xbf16>, tensor<4096xi1>
    })")
                              .value();
  std::vector<Array> arguments;
  for (int which = 0; which < 2; ++which) {
    Array array(Type::tensor(DType::bf16, {4096}));
    int i = 0;
    for (BF16& x : array.as_mutable<BF16>())
      x = convert_scalar<BF16>(1 + ((i++ * (which == 0 ? 7 : 5)) % 97) / 64.0);
    arguments.push_back(array);
  }
  Target target;
  target.options.device = *gpu::device();
  const auto got = compile(program, target).value().run(arguments).value();
  const auto reference = interpret(program, program.functions[0], arguments).value();
  const auto x = arguments[0].as<BF16>(), y = arguments[1].as<BF16>();
  for (std::size_t i = 0; i < 4096; ++i) {
    const auto a = static_cast<float>(x[i]), b = static_cast<float>(y[i]);
    // Whether or not both are in one kernel: within what rounding each product may take away.
    EXPECT_NEAR(static_cast<float>(got[0].as<BF16>()[i]), a * a - b * b, 0.05) << i;
  }
  EXPECT_EQ(got[1], reference[1]);
}

}  // namespace
}  // namespace heddle::uneven_tests
