// Images that stay in shared memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/cuda_image.h"
#include "kernel_examples.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

constexpr CudaLimits kOfHopper{.shared_bytes = 227 << 10, .most_cluster = 16};

std::optional<CudaImage> image_of(const Kernel& kernel, const CudaLimits& limits = kOfHopper) {
  return cuda_image(kernel, kernel.phases[0], limits);
}

TEST(CudaImage, ALargeOneBelongsToACluster) {
  const Kernel kernel = examples::channel_norm(64, 4096, 320);
  const auto made = image_of(kernel);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->cluster, 16);
  EXPECT_EQ(made->share(), 256);
  EXPECT_EQ(made->units(), 40);
  EXPECT_EQ(made->slice() % made->abreast(), 0);  // no thread is idle
  const CudaPhase launch = cuda_plan(kernel, kOfHopper).phases[0];
  EXPECT_EQ(launch.cluster, 16);
  EXPECT_EQ(launch.grid, made->workers * 16);
  EXPECT_LE(launch.shared_bytes, kOfHopper.shared_bytes);
  EXPECT_GE(launch.shared_bytes, 256 * 320 * 2);
  EXPECT_THAT(emit_cuda(kernel, kOfHopper), HasSubstr("if (threadIdx.x == 0) send(block + step"));
}

TEST(CudaImage, ASmallOneBelongsToABlock) {
  const auto made = image_of(examples::channel_norm(300, 256, 128));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->cluster, 1);
  EXPECT_EQ(made->at_once, 2);
}

TEST(CudaImage, WithoutRoomThereIsNone) {
  EXPECT_FALSE(image_of(examples::channel_norm(64, 4096, 320), {.shared_bytes = 227 << 10}));
  EXPECT_FALSE(image_of(examples::channel_norm(64, 4096, 320),
                        {.shared_bytes = 227 << 10, .clusters = false}));
  EXPECT_FALSE(image_of(examples::channel_norm(64, 1 << 20, 320)));
}

TEST(CudaImage, WhatIsReadOnceNeedNotStay) {
  EXPECT_FALSE(image_of(examples::inner_sum(64, 4096, 320)));
  EXPECT_FALSE(image_of(examples::gained(64, 4096, 320, true)));
}

}  // namespace
}  // namespace heddle
