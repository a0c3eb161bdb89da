// Kernels that put together what ranks on one GPU bring.
#include <gtest/gtest.h>

#include "device/cuda/combine.h"
#include "device/cuda/nvrtc.h"
#include "nvrtc_environment.h"

namespace heddle::cuda {
namespace {

TEST(CudaCombine, SumsCompile) {
  use_build_environment();
  if (!find_nvrtc()) GTEST_SKIP() << find_nvrtc().reason();
  // The rest are other instances of the prelude's templates, which tests of kernels compile.
  const std::pair<ReduceOp, DType> some[] = {{ReduceOp::sum, DType::bf16},
                                             {ReduceOp::logical_and, DType::i1}};
  for (const auto& [op, dtype] : some) {
    ASSERT_TRUE(has_combination(op, dtype));
    const auto object = compile_cuda(combine_text(op, dtype), "sm_90");
    ASSERT_TRUE(object) << name(op) << " of " << name(dtype) << ": " << object.reason();
    ASSERT_EQ(object->functions.size(), 1U);
    EXPECT_EQ(object->functions[0].spilled_bytes, 0);
  }
  EXPECT_FALSE(has_combination(ReduceOp::sum, DType::c64));
  EXPECT_FALSE(has_combination(ReduceOp::logical_and, DType::f32));
}

}  // namespace
}  // namespace heddle::cuda
