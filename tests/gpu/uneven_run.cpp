// Products whose rows have an odd number of 16-bit floats, and numbers that are rounded late.
#include <gmock/gmock.h>

#include <algorithm>

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
