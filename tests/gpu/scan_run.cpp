// One long row of running sums, which all of the GPU shares.
#include <gmock/gmock.h>

#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/stablehlo.h"

namespace heddle::scan_tests {
namespace {

TEST(GpuScan, OneLongRowAgrees) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  constexpr std::int64_t n = (1 << 20) + (1 << 14);
  for (const bool backward : {false, true}) {
    SCOPED_TRACE(backward ? "backward" : "forward");
    const Program program =
        read_stablehlo(fmt::format(R"(
        func.func @main(%x: tensor<{0}xf32>) -> tensor<{0}xf32> {{
          %z = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = "stablehlo.reduce_window"(%x, %z) ({{
            ^bb0(%a: tensor<f32>, %b: tensor<f32>):
              %c = stablehlo.add %a, %b : tensor<f32>
              stablehlo.return %c : tensor<f32>
          }}) {{window_dimensions = array<i64: {0}>, padding = dense<[[{1}, {2}]]> : tensor<1x2xi64>}}
              : (tensor<{0}xf32>, tensor<f32>) -> tensor<{0}xf32>
          return %0 : tensor<{0}xf32>
        }})",
                                   n, backward ? 0 : n - 1, backward ? n - 1 : 0))
            .value();
    CompileOptions options;
    options.device = *gpu::device();
    const Executable executable = compile(program, options).value();
    EXPECT_GT(executable.steps().size(), 1U);
    Array x(Type::tensor(DType::f32, {n}));
    const auto numbers = x.as_mutable<float>();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>(static_cast<int>(i * 37 % 11) - 5);
    std::vector<float> due(numbers.size());
    float sum = 0;  // of whole numbers: exact in any order
    for (std::size_t i = 0; i < due.size(); ++i) {
      const std::size_t at = backward ? due.size() - 1 - i : i;
      due[at] = sum += numbers[at];
    }
    const auto got = executable.run({x}).value();
    EXPECT_TRUE(std::ranges::equal(got[0].as<float>(), due));
    EXPECT_TRUE(std::ranges::equal(executable.run({x}).value()[0].bytes(), got[0].bytes()));
  }
}

}  // namespace
}  // namespace heddle::scan_tests
