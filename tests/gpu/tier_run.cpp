// One small kernel or program for every way in which the GPU runs stages: what tests/gpu/sanitize
// watches.
#include <gmock/gmock.h>

#include <algorithm>

#include "../unit/kernel_tiers.h"
#include "heddle/compile.h"
#include "heddle/inputs.h"
#include "heddle/interpreter.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"
#include "kernel_compare.h"

namespace heddle::tier_tests {
namespace {

class GpuTier : public ::testing::TestWithParam<examples::CudaTier> {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  }
};

TEST_P(GpuTier, Agrees) {
  const Kernel& kernel = GetParam().kernel;
  CudaDevice& device = **gpu::device();
  // The interpreter adds up 400,000 numbers one by one, and is the less accurate of both.
  constexpr double kUnits = 16384;
  EXPECT_EQ(gpu::difference(kernel, gpu::with_inputs(kernel, 1), device, kUnits), "");
  const std::string text = device.source(kernel);
  EXPECT_THAT(text.substr(text.find("struct Buffers")), testing::HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(Of, GpuTier, ::testing::ValuesIn(examples::cuda_tiers()),
                         [](const auto& tier) { return std::string(tier.param.name); });

// Many small tensors, each by a kernel of its own: one launch.
TEST(GpuTiers, PacksAgree) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  std::string arguments, types, body, results;
  for (int i = 0; i < 24; ++i) {
    const std::string type = fmt::format("tensor<{}xf32>", 700 + 37 * i);
    const char* comma = i == 0 ? "" : ", ";
    arguments += fmt::format("{}%x{}: {}", comma, i, type);
    types += comma + type;
    body += fmt::format("%y{0} = stablehlo.exponential %x{0} : {1}\n", i, type);
    results += fmt::format("{}%y{}", comma, i);
  }
  const Program program =
      read_stablehlo(fmt::format("func.func @main({}) -> ({}) {{\n{}return {} : {}\n}}", arguments,
                                 types, body, results, types))
          .value();
  std::vector<Array> inputs;
  for (const Type& type : argument_types(program, program.functions[0]))
    inputs.push_back(random_array(type, inputs.size()));
  Target target;
  target.options.device = *gpu::device();
  const Executable executable = compile(program, target).value();
  EXPECT_EQ(executable.steps().size(), 1U);
  const auto want = interpret(program, program.functions[0], inputs).value();
  const auto got = executable.run(inputs).value();
  for (std::size_t i = 0; i < want.size(); ++i)
    for (std::size_t k = 0; k < want[i].as<float>().size(); ++k)
      ASSERT_NEAR(want[i].as<float>()[k], got[i].as<float>()[k], 1e-5F * want[i].as<float>()[k]);
}

}  // namespace
}  // namespace heddle::tier_tests
