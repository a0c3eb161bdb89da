// Kernels that add up the parts of a sum by themselves.
#include <gtest/gtest.h>

#include "kernel/chunk_sums.h"
#include "kernel_examples.h"

namespace heddle {
namespace {

std::span<std::byte> bytes_of(std::vector<float>& numbers) {
  return std::as_writable_bytes(std::span(numbers));
}

TEST(KernelSums, PartsAddedUpGiveWhatTheirSumGives) {
  constexpr std::int64_t kCount = 40;
  const Kernel kernel = examples::squares(kCount, 16);
  const auto inside = with_sum_inside(kernel, 0, 3, ReduceOp::sum);
  ASSERT_TRUE(inside);
  ASSERT_TRUE(verify(*inside));
  EXPECT_EQ(inside->buffers.size(), kernel.buffers.size() + 3);
  std::vector<std::vector<float>> parts(3, std::vector<float>(kCount));
  std::vector<float> sum(kCount, 0), nothing(kCount, -1), due(kCount), got(kCount);
  for (std::size_t p = 0; p < 3; ++p)
    for (std::size_t i = 0; i < kCount; ++i)
      sum[i] += parts[p][i] = 1.0F / static_cast<float>(i + 7 * p + 3);
  ASSERT_TRUE(interpret(kernel, std::vector{bytes_of(sum), bytes_of(due)}));
  ASSERT_TRUE(interpret(*inside, std::vector{bytes_of(nothing), bytes_of(got), bytes_of(parts[0]),
                                             bytes_of(parts[1]), bytes_of(parts[2])}));
  EXPECT_EQ(got, due);
}

// Numbers of 16 bits round when they are kept, and need not in a kernel.
TEST(KernelSums, WhatRoundsWhenItIsKeptStaysAsItIs) {
  Kernel kernel = examples::squares(40, 16);
  kernel.buffers[0].dtype = DType::bf16;
  EXPECT_FALSE(with_sum_inside(kernel, 0, 2, ReduceOp::sum));
  EXPECT_FALSE(with_sum_inside(examples::squares(40, 16), 1, 2, ReduceOp::sum));  // a result
}

}  // namespace
}  // namespace heddle
