// Rows whose blocks have sums of their own, and stay in registers all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/cuda_resident.h"
#include "kernel_examples.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

constexpr CudaLimits kWithRoom{.shared_bytes = 227 << 10};

std::optional<CudaResident> resident_blocks(const Kernel& kernel) {
  return cuda_resident(kernel, kernel.phases[0], kWithRoom);
}

TEST(CudaSegments, ABlockBelongsToNeighboursOfAWarp) {
  const Kernel kernel = examples::block_scaled(16384, 32, 128);
  const auto made = resident_blocks(kernel);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->segment(1), 16);  // units of eight
  EXPECT_EQ(std::ranges::count(made->homes, CudaHome::segment), 1);
  EXPECT_EQ(std::ranges::count(made->homes, CudaHome::row), 1);
  EXPECT_EQ(cuda_plan(kernel, kWithRoom).phases[0].shared_bytes, 0);
  EXPECT_THAT(emit_cuda(kernel, kWithRoom), HasSubstr("WARP_ALL(f32, 16, h_maximum, sum0[u])"));
  EXPECT_THAT(emit_cuda(kernel, kWithRoom), HasSubstr("if (at % 16 == 0)"));
}

TEST(CudaSegments, AUnitMayBeABlock) {
  const auto made = resident_blocks(examples::block_scaled(64, 16, 8));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->segment(1), 1);
}

TEST(CudaSegments, BlocksThatAreNotOfAWarpGoThroughMemory) {
  EXPECT_FALSE(resident_blocks(examples::block_scaled(64, 16, 24)));   // three units
  EXPECT_FALSE(resident_blocks(examples::block_scaled(64, 4, 1024)));  // 128 units
}

// What is one element of a block for one stage is no other for the next.
TEST(CudaSegments, OnlyWhatBelongsToOneBlockStays) {
  Kernel kernel = examples::block_scaled(64, 16, 16);
  Stage& last = kernel.phases[0].stages.back();
  for (Node& node : last.nodes)  // top[loop 1] in place of top[loop 0]
    if (node.kind == NodeKind::load && kernel.buffers[node.number].elements == 16)
      for (NodeId i = 0; i < last.nodes.size(); ++i)
        if (last.nodes[i].kind == NodeKind::loop && last.nodes[i].number == 1) node.in[0] = i;
  EXPECT_FALSE(resident_blocks(kernel));
}

}  // namespace
}  // namespace heddle
