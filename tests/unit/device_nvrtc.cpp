// NVRTC compiles the CUDA text of kernels for sm_90, on any machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../property/random_kernel.h"
#include "../property/random_program.h"
#include "device/cuda/nvrtc.h"
#include "heddle/simplify.h"
#include "heddle/stitch.h"
#include "kernel/emit_cuda.h"
#include "kernel/lower_group.h"
#include "kernel_examples.h"
#include "nvrtc_environment.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

class DeviceNvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    use_build_environment();
    const auto found = find_nvrtc();
    if (!found) GTEST_SKIP() << found.reason();
  }
  static std::string failure(const Kernel& kernel) {
    const Verdict fine = verify(kernel);
    if (!fine) return fine.reason();
    const auto code = compile_cuda(emit_cuda(kernel), "sm_90");
    return code ? "" : code.reason() + "\n" + emit_cuda(kernel);
  }
};

TEST_F(DeviceNvrtc, SaysWhatItFound) {
  EXPECT_THAT(*find_nvrtc(), HasSubstr("libnvrtc"));
  RecordProperty("nvrtc", *find_nvrtc());
}

TEST_F(DeviceNvrtc, CompilesTheExamples) {
  for (const Kernel& kernel :
       {examples::softmax(8, 16, 2), examples::softmax(3, 4, 1, DType::f16),
        examples::column_sum(9, 6, 3), examples::running_sum(2, 4), examples::largest_place(4, 3),
        examples::scatter_add(4, 5, false), examples::padded(3, 2, 1)})
    EXPECT_EQ(failure(kernel), "") << kernel.name;
}

TEST_F(DeviceNvrtc, CompilesEveryOperation) {
  for (DType type : all_dtypes()) {
    if (!is_kernel_type(type)) continue;
    EXPECT_EQ(failure(examples::all_operations(type, type, 8)), "") << name(type);
  }
}

TEST_F(DeviceNvrtc, CompilesEveryConversionAndComparison) {
  EXPECT_EQ(failure(examples::all_conversions(4)), "");
  for (DType type : {DType::i1, DType::ui16, DType::i64, DType::bf16, DType::f64})
    EXPECT_EQ(failure(examples::all_operations(type, DType::i1, 8)), "");
}

TEST_F(DeviceNvrtc, CompilesKernelsOfPrograms) {
  int kernels = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    property::Dice dice(seed);
    const auto made = property::RandomProgram(property::Decisions(dice), {.most_ops = 30}).make();
    ASSERT_TRUE(made) << made.reason();
    const Program program = simplify(made->program).value();
    const auto plan = stitch(program, program.functions[0].body);
    ASSERT_TRUE(plan) << plan.reason();
    for (const StitchUnit& unit : plan->units)
      for (const StitchGroup& group : unit.kernels) {
        const auto kernel = lower_group(program, group, StitchOptions{}.machine);
        if (!kernel) continue;
        EXPECT_EQ(failure(*kernel), "");
        ++kernels;
      }
  }
  EXPECT_GT(kernels, 10);
}

TEST_F(DeviceNvrtc, AMistakeComesWithTheCompilersLog) {
  const auto code = compile_cuda("__global__ void f() { nonsense(); }", "sm_90");
  ASSERT_FALSE(code);
  EXPECT_THAT(code.reason(), HasSubstr("NVRTC cannot compile it for sm_90"));
  EXPECT_THAT(code.reason(), HasSubstr("nonsense"));
}

}  // namespace
}  // namespace heddle
