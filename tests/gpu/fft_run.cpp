// Fourier transforms by cuFFT give what the reference gives.
#include <gmock/gmock.h>

#include <cmath>

#include "device/cuda/fft_library.h"
#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"
#include "ir/eval/scalar.h"

namespace heddle::fft_tests {
namespace {

struct Case {
  const char* kind;
  const char* operand;
  const char* result;
  const char* lengths;
};

class GpuFft : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
    if (!cuda::fft_library()) GTEST_SKIP() << cuda::fft_library().reason();
  }
};

// Any numbers: the spectrum of an inverse transform to real ones need not be one of real ones.
Array numbers(const Type& type) {
  Array array(type);
  std::uint64_t seed = 5;
  const auto next = [&] {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(seed >> 40) / (1 << 23) - 1;
  };
  dispatch(type.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T& x : array.template as_mutable<T>()) {
      if constexpr (ComplexScalar<T>) {
        const double real = next();
        x = T(static_cast<typename T::value_type>(real),
              static_cast<typename T::value_type>(next()));
      } else {
        x = convert_scalar<T>(next());
      }
    }
  });
  return array;
}

TEST_P(GpuFft, AgreesWithTheReference) {
  const Case& given = GetParam();
  const Program program =
      read_stablehlo(fmt::format(R"(
    func.func @main(%x: tensor<{0}>) -> tensor<{1}> {{
      %0 = stablehlo.fft %x, type = {2}, length = [{3}] : (tensor<{0}>) -> tensor<{1}>
      return %0 : tensor<{1}>
    }})",
                                 given.operand, given.result, given.kind, given.lengths))
          .value();
  const Array argument =
      numbers(program.type_of(program.region(program.functions[0].body).args[0]));
  const Array wanted = interpret(program, program.functions[0], {argument}).value()[0];
  Target target;
  target.options.device = *gpu::device();
  const Executable executable = compile(program, target).value();
  EXPECT_THAT(executable.steps().at(0).name, testing::HasSubstr("cufft"));
  const Array got = executable.run({argument}).value()[0];
  EXPECT_EQ(executable.run({argument}).value()[0], got);
  dispatch(wanted.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (ComplexScalar<T> || FloatScalar<T>) {
      double most = 0, apart = 0;
      for (std::size_t i = 0; i < wanted.as<T>().size(); ++i) {
        const C128 x = convert_scalar<C128>(got.as<T>()[i]),
                   y = convert_scalar<C128>(wanted.as<T>()[i]);
        most = std::max(most, std::abs(y));
        apart = std::max(apart, std::abs(x - y));
      }
      const bool is_double = byte_size(wanted.dtype()) == (ComplexScalar<T> ? 16 : 8);
      EXPECT_LE(apart, most * (is_double ? 1e-13 : 1e-5));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, GpuFft,
    ::testing::Values(Case{"FFT", "8x64xcomplex<f32>", "8x64xcomplex<f32>", "64"},
                      Case{"FFT", "3x5x7xcomplex<f64>", "3x5x7xcomplex<f64>", "5, 7"},
                      Case{"IFFT", "4x8x16xcomplex<f32>", "4x8x16xcomplex<f32>", "8, 16"},
                      Case{"IFFT", "2x3x5x9xcomplex<f64>", "2x3x5x9xcomplex<f64>", "3, 5, 9"},
                      Case{"RFFT", "6x30xf32", "6x16xcomplex<f32>", "30"},
                      Case{"RFFT", "2x6x31xf64", "2x6x16xcomplex<f64>", "6, 31"},
                      Case{"IRFFT", "5x17xcomplex<f32>", "5x32xf32", "32"},
                      Case{"IRFFT", "5x16xcomplex<f32>", "5x31xf32", "31"},
                      Case{"IRFFT", "2x4x6x9xcomplex<f64>", "2x4x6x16xf64", "4, 6, 16"},
                      Case{"FFT", "4099xcomplex<f32>", "4099xcomplex<f32>", "4099"}));

// In the middle of a program, and kept as part of a graph.
TEST_F(GpuFft, BetweenKernels) {
  const Program program = read_stablehlo(R"(
    func.func @main(%x: tensor<16x256xf32>) -> tensor<16x256xf32> {
      %0 = stablehlo.multiply %x, %x : tensor<16x256xf32>
      %1 = stablehlo.fft %0, type = RFFT, length = [256] : (tensor<16x256xf32>) -> tensor<16x129xcomplex<f32>>
      %2 = stablehlo.multiply %1, %1 : tensor<16x129xcomplex<f32>>
      %3 = stablehlo.fft %2, type = IRFFT, length = [256] : (tensor<16x129xcomplex<f32>>) -> tensor<16x256xf32>
      %4 = stablehlo.add %3, %x : tensor<16x256xf32>
      return %4 : tensor<16x256xf32>
    })")
                              .value();
  const Array argument = numbers(Type::tensor(DType::f32, {16, 256}));
  const Array wanted = interpret(program, program.functions[0], {argument}).value()[0];
  Target target;
  target.options.device = *gpu::device();
  const Executable executable = compile(program, target).value();
  for (int turn = 0; turn < 4; ++turn) {
    const Array got = executable.run({argument}).value()[0];
    for (std::size_t i = 0; i < got.as<float>().size(); ++i)
      ASSERT_NEAR(got.as<float>()[i], wanted.as<float>()[i],
                  1e-3 * (1 + std::abs(wanted.as<float>()[i])))
          << i;
  }
}

}  // namespace
}  // namespace heddle::fft_tests
