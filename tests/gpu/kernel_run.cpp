// Kernels run on a CUDA device and give what the kernel interpreter gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../property/random_kernel.h"
#include "../property/random_rows.h"
#include "../property/random_sweeps.h"
#include "../unit/kernel_examples.h"
#include "kernel_compare.h"

namespace heddle {
namespace {

using gpu::difference;
using gpu::with_inputs;

class GpuKernel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  }
  static Device& device() { return **gpu::device(); }
};

TEST_F(GpuKernel, ExamplesAgree) {
  for (const Kernel& kernel :
       {examples::softmax(100, 300, 2), examples::softmax(33, 64, 4, DType::bf16),
        examples::softmax(5, 7, 1, DType::f16), examples::column_sum(1001, 77, 5),
        examples::running_sum(40, 129), examples::running_columns(4096, 1024, 16),
        examples::running_columns(1000, 50, 50), examples::running_columns(333, 77, 20),
        examples::running_columns(70, 4000, 100), examples::running_columns(5000, 3, 1),
        examples::largest_place(50, 31), examples::scatter_add(12, 400, false),
        examples::padded(1000, 13, 7), examples::gained(3, 4000, 320, true),
        examples::gained(300, 77, 24, true), examples::inner_sum(2, 3000, 320),
        examples::inner_sum(200, 300, 72)})
    EXPECT_EQ(difference(kernel, with_inputs(kernel, 1), device(), 32), "") << kernel.name;
}

TEST_F(GpuKernel, EveryOperationAgrees) {
  for (DType from : all_dtypes())
    for (DType to : {from, DType::i1}) {
      if (!is_kernel_type(from)) continue;
      const Kernel kernel = examples::all_operations(from, to, 200);
      EXPECT_EQ(difference(kernel, with_inputs(kernel, 3), device(), 4), "") << name(from);
    }
}

TEST_F(GpuKernel, EveryConversionAgrees) {
  const Kernel kernel = examples::all_conversions(200);
  EXPECT_EQ(difference(kernel, with_inputs(kernel, 4), device(), 0), "");
}

TEST_F(GpuKernel, LongRowsAgree) {
  for (const Kernel& kernel :
       {examples::softmax(300, 32768, 1, DType::bf16), examples::softmax(300, 4104, 1),
        examples::softmax(37, 128256, 1, DType::bf16), examples::softmax(70, 40000, 1)})
    EXPECT_EQ(difference(kernel, with_inputs(kernel, 1), device(), 1024), "") << kernel.name;
}

TEST_F(GpuKernel, RowsOfBlocksAgreeExactly) {
  for (const Kernel& kernel :
       {examples::block_scaled(37, 32, 128), examples::block_scaled(301, 3, 16),
        examples::block_scaled(50, 5, 64, DType::f32), examples::block_scaled(9, 130, 256),
        examples::block_scaled(3, 2048, 32), examples::block_scaled(40, 16, 8)})
    EXPECT_EQ(difference(kernel, with_inputs(kernel, 2), device(), 0), "") << print(kernel);
}

// More images than clusters of 16 can have at a time, so that slices of the next ones fly; and of
// one block each.
TEST_F(GpuKernel, ImagesAgreeExactly) {
  for (const Kernel& kernel :
       {examples::channel_norm(20, 256, 128), examples::channel_norm(8, 2048, 224, DType::f32),
        examples::channel_norm(3, 4096, 256), examples::channel_norm(2, 4096, 328)})
    EXPECT_EQ(difference(kernel, with_inputs(kernel, 5), device(), 0), "");
}

// Squares about a mean come with the sums that it is made of: otherwise rounded, but no less.
TEST_F(GpuKernel, SquaresAgreeNearly) {
  for (const Kernel& kernel :
       {examples::channel_squares(3, 4096, 256), examples::channel_squares(2, 4096, 328)})
    EXPECT_EQ(difference(kernel, with_inputs(kernel, 7), device(), 1), "");
}

// Chunks have many rows each, so that every place where rows lie is filled several times.
TEST_F(GpuKernel, RandomRowsAgreeExactly) {
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    property::Dice dice(seed);
    const std::int64_t columns =
        dice.pick({1040, 2048, 2056, 4096, 4100, 8192, 12304, 16384, 40000, 100096});
    const std::int64_t chunks = dice.between(1, 3);
    const std::int64_t rows = dice.between(5, columns > 20000 ? 12 : 30);
    const Kernel kernel = property::random_rows(dice, rows, columns, chunks);
    ASSERT_EQ(difference(kernel, with_inputs(kernel, seed), device(), 0), "") << "seed " << seed;
  }
}

TEST_F(GpuKernel, ManyRandomRowsAgreeExactly) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    property::Dice dice(seed);
    const Kernel kernel = property::random_rows(dice, 1501, dice.pick({1536, 2064}), 0);
    ASSERT_EQ(difference(kernel, with_inputs(kernel, seed), device(), 0), "") << "seed " << seed;
  }
}

TEST_F(GpuKernel, RandomStencilsAgreeExactly) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    property::Dice dice(seed);
    property::WholeSweeps whole(property::RandomSweeps<property::Dice>(dice).make(
        dice.between(30, 300), dice.between(60, 500), dice.between(2, 6)));
    if (!whole.sweeps) continue;
    ++found;
    const Kernel kernel = whole.kernel(dice.between(10, 100));
    ASSERT_EQ(difference(kernel, with_inputs(kernel, seed), device(), 0), "") << "seed " << seed;
  }
  EXPECT_GT(found, 8);
}

TEST_F(GpuKernel, RandomKernelsAgreeExactly) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    property::Dice dice(seed);
    const Kernel kernel = property::random_kernel(dice, true);
    ASSERT_EQ(difference(kernel, with_inputs(kernel, seed), device(), 0), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace heddle
