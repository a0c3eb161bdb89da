// Images that stay in shared memory, and those that go by passes.
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
  const Kernel kernel = examples::channel_norm(64, 2048, 320);
  const auto made = image_of(kernel);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->cluster, 16);
  EXPECT_EQ(made->share(), 128);
  EXPECT_EQ(made->units(), 40);
  EXPECT_EQ(made->slice() % made->abreast(), 0);  // no thread is idle
  EXPECT_EQ(made->parts, 0);
  const CudaPhase launch = cuda_plan(kernel, kOfHopper).phases[0];
  EXPECT_EQ(launch.cluster, 16);
  EXPECT_EQ(launch.grid, made->workers * 16);
  EXPECT_LE(launch.shared_bytes, kOfHopper.shared_bytes);
  EXPECT_GE(launch.shared_bytes, 128 * 320 * 2);
  EXPECT_THAT(emit_cuda(kernel, kOfHopper), HasSubstr("if (threadIdx.x == 0) send(block + step"));
}

// One that would leave no room beside it.
TEST(CudaImage, AVeryLargeOneGoesByPasses) {
  const Kernel kernel = examples::channel_norm(64, 4096, 320);
  const auto made = image_of(kernel);
  ASSERT_TRUE(made);
  ASSERT_GT(made->parts, 1);
  EXPECT_EQ(made->part_rows() % made->abreast(), 0);
  using enum CudaImagePass::Kind;
  std::vector<CudaImagePass::Kind> kinds;
  for (const CudaImagePass& pass : made->passes) kinds.push_back(pass.kind);
  EXPECT_THAT(kinds, testing::ElementsAre(sums, finish, sums, finish, stores));
  const CudaPlan plan = cuda_plan(kernel, kOfHopper);
  ASSERT_EQ(plan.phases.size(), 5u);
  EXPECT_EQ(plan.phases[0].grid, 64 * made->parts);
  EXPECT_EQ(plan.phases[1].grid, 64);
  EXPECT_EQ(plan.phases[4].grid, 64 * made->parts);
  EXPECT_EQ(plan.scratch_bytes, made->saved_bytes + made->partial_bytes);
  EXPECT_FALSE(can_be_packed(kernel, kOfHopper));
}

// Sums of v, and of (v - m)^2 with m the same for all rows: one reading has both.
TEST(CudaImage, SquaresComeWithSums) {
  const auto passes = [](ScalarOp off, bool same) {
    const Kernel kernel = examples::channel_squares(64, 4096, 320, off, same);
    return image_of(kernel)->passes.size();
  };
  EXPECT_EQ(passes(ScalarOp::subtract, true), 3u);
  EXPECT_EQ(passes(ScalarOp::add, true), 5u);
  EXPECT_EQ(passes(ScalarOp::subtract, false), 5u);
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
