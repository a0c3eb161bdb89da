// Which kernels of a step a GPU runs by one launch.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/cuda/pack.h"
#include "kernel_examples.h"

namespace heddle::pack_tests {
namespace {

using Packs = std::vector<std::vector<std::size_t>>;

TEST(CudaPack, KernelsWithPhasesOfAsManyThreadsGoTogether) {
  std::vector<LaunchKernel> kernels;
  for (int i = 0; i < 4; ++i) {
    kernels.push_back({.kernel = examples::column_sum(1001 + i, 80, 5)});  // two phases
    kernels.push_back({.kernel = examples::all_conversions(8)});           // one
  }
  Packs packs = cuda::CudaPack::chosen(kernels, {});
  std::ranges::sort(packs);
  EXPECT_EQ(packs, (Packs{{0, 2, 4, 6}, {1, 3, 5, 7}}));
}

TEST(CudaPack, FewAndThoseThatNeedMoreThanRegistersStayAlone) {
  std::vector<LaunchKernel> kernels;
  for (int i = 0; i < 3; ++i) kernels.push_back({.kernel = examples::all_conversions(8)});
  EXPECT_EQ(cuda::CudaPack::chosen(kernels, {}), Packs{});
  kernels.assign(8, {.kernel = examples::softmax(512, 131072, 1)});  // clusters
  EXPECT_EQ(cuda::CudaPack::chosen(kernels, {.shared_bytes = 227 << 10}), Packs{});
}

}  // namespace
}  // namespace heddle::pack_tests
