// Products of f32: as exact as they can be, unless the program asks for factors in TF32.
#include <gmock/gmock.h>

#include <cmath>

#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/inputs.h"
#include "heddle/stablehlo.h"

namespace heddle::product_tests {
namespace {

// Of rows of 512 numbers between -1 and 1, from a sum in f64: the root of the mean square, over
// that of the results.
double error_of(const std::string& asked) {
  constexpr std::int64_t n = 512;
  const Program program = read_stablehlo(fmt::format(R"(
      func.func @main(%x: tensor<{0}x{0}xf32>, %y: tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32> {{
        %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]{1}
            : (tensor<{0}x{0}xf32>, tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32>
        return %0 : tensor<{0}x{0}xf32>
      }})",
                                                     n, asked))
                              .value();
  CompileOptions options;
  options.device = *gpu::device();
  const Type type = Type::tensor(DType::f32, {n, n});
  const Array x = random_array(type, 1), y = random_array(type, 2);
  const Array got = compile(program, options).value().run({x, y}).value()[0];
  const auto a = x.as<float>(), b = y.as<float>(), c = got.as<float>();
  double off = 0, all = 0;
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += double{a[i * n + k]} * b[k * n + j];
      off += std::pow(sum - c[i * n + j], 2);
      all += sum * sum;
    }
  return std::sqrt(off / all);
}

TEST(GpuProducts, AreRoundedToTf32OnlyWhereTheProgramAsksForIt) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  EXPECT_LT(error_of(""), 2e-6);
  const double rounded = error_of(
      ", algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = "
      "f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, "
      "allow_imprecise_accumulation = false>");
  EXPECT_GT(rounded, 2e-5);
  EXPECT_LT(rounded, 2e-3);
}

}  // namespace
}  // namespace heddle::product_tests
