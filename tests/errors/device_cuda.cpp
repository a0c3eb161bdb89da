// GPUs that cannot be used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/context.h"

namespace heddle::cuda {
namespace {

using ::testing::HasSubstr;

TEST(CudaErrors, AnOldGpu) {
  GpuFacts facts;
  facts.name = "Tesla P100";
  facts.arch = "sm_60";
  EXPECT_THAT(can_be_used(facts, 6, true).reason(),
              HasSubstr("Tesla P100 (sm_60) is too old: devices from sm_70 on are supported"));
}

TEST(CudaErrors, AGpuWithoutPools) {
  GpuFacts facts;
  facts.name = "NVIDIA A100";
  facts.arch = "sm_80";
  EXPECT_THAT(can_be_used(facts, 8, false).reason(), HasSubstr("gives no memory by streams"));
  EXPECT_TRUE(can_be_used(facts, 8, true));
}

TEST(CudaErrors, AGpuThatIsLost) {
  Driver driver;
  EXPECT_THAT(driver.checked(700, "finish its work").reason(),
              HasSubstr("the GPU is lost to this process, which has to be started again"));
  EXPECT_THAT(driver.checked(1, "copy").reason(), ::testing::Not(HasSubstr("lost")));
}

}  // namespace
}  // namespace heddle::cuda
