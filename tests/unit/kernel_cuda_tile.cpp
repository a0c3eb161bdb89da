// Tiles that threads turn, and tiles that a block keeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernel/emit_cuda_stage.h"
#include "kernel_build.h"

namespace heddle {
namespace {

constexpr std::int64_t kAlong = 64;  // of the loop that is written along

// y[n][p][c] = x[n][c][p], of `positions` in blocks of `block`.
Stage turned_stage(const Kernel& kernel, std::int64_t channels, std::int64_t positions,
                   std::int64_t block) {
  StageBuilder writer(kernel, {{channels / kAlong, -1}, {block, 1}, {kAlong, -1}});
  const NodeId channel = writer.add(writer.scaled(writer.loop(0), kAlong), writer.loop(2));
  const NodeId position = writer.add(writer.outer(1), writer.loop(1));
  const NodeId image = writer.scaled(writer.outer(0), channels * positions);
  const NodeId from = writer.add(writer.add(writer.scaled(channel, positions), position), image);
  const NodeId to = writer.add(writer.add(writer.scaled(position, channels), channel), image);
  writer.store(1, to, writer.load(0, from));
  return std::move(writer.stage);
}

// Sums of x over channels, for every position of a block.
Stage summed_stage(const Kernel& kernel, std::int64_t channels, std::int64_t positions,
                   std::int64_t block) {
  StageBuilder writer(kernel, {{channels, -1}, {block, 1}});
  const NodeId position = writer.add(writer.outer(1), writer.loop(1));
  const NodeId image = writer.scaled(writer.outer(0), channels * positions);
  const NodeId from =
      writer.add(writer.add(writer.scaled(writer.loop(0), positions), position), image);
  writer.update(2, writer.loop(1), ScalarOp::add, writer.load(0, from));
  return std::move(writer.stage);
}

Kernel transpose(DType type, std::int64_t channels, std::int64_t positions, std::int64_t block,
                 bool with_sums = false) {
  Kernel kernel = named_kernel("turned");
  add_buffer(kernel, Reach::input, type, 4 * channels * positions);
  add_buffer(kernel, Reach::output, type, 4 * channels * positions);
  Phase phase{.outer = {{4, 1}, {positions, block}}, .begin = {}, .stages = {}};
  if (with_sums) {
    add_buffer(kernel, Reach::block, type, block);
    phase.stages.push_back(summed_stage(kernel, channels, positions, block));
  }
  phase.stages.push_back(turned_stage(kernel, channels, positions, block));
  kernel.phases.push_back(std::move(phase));
  return kernel;
}

std::optional<CudaTurn> turn_of(const Kernel& kernel) {
  const Phase& phase = kernel.phases[0];
  return cuda_mapping(kernel, phase, phase.stages.back(), kCudaThreads).turn;
}

TEST(CudaTurn, AThreadHasATileOfBothLoops) {
  for (const auto& [type, width] :
       {std::pair{DType::f64, 2}, {DType::f32, 4}, {DType::bf16, 8}, {DType::i8, 16}}) {
    const auto turn = turn_of(transpose(type, 256, 512, 32));
    ASSERT_TRUE(turn) << name(type);
    EXPECT_EQ(turn->loop, 1u);
    EXPECT_EQ(turn->width, width) << name(type);
    EXPECT_EQ(std::ranges::count(turn->loads, true), 1);
  }
}

TEST(CudaTurn, RowsThatDoNotBeginAtAnAccessAreReadOneByOne) {
  EXPECT_FALSE(turn_of(transpose(DType::bf16, 256, 508, 4)));
  EXPECT_TRUE(turn_of(transpose(DType::f32, 256, 508, 4)));
  EXPECT_FALSE(turn_of(transpose(DType::f32, 256, 510, 2)));
}

// Few blocks would be shared by clusters.
constexpr CudaLimits kLimits{.shared_bytes = 227 << 10, .clusters = false};

bool brings(const Kernel& kernel, const CudaLimits& limits, std::string_view what = "<bf16") {
  return emit_cuda(kernel, limits).find(fmt::format("bring_tile{}", what)) != std::string::npos;
}

TEST(CudaTile, WhatTwoStagesReadIsBroughtOnce) {
  const Kernel kernel = transpose(DType::bf16, 1024, 1024, 64, true);
  EXPECT_TRUE(brings(kernel, kLimits, "<bf16, 1024, 1024, 4, 256>"));
  // Blocks of half as many positions, so that three of them have their tiles.
  const CudaPlan plan = cuda_plan(kernel, kLimits);
  EXPECT_EQ(plan.phases[0].grid, 4 * 1024 / 32);
  EXPECT_EQ(plan.phases[0].shared_bytes, 128 + 1024 * 64);
}

TEST(CudaTile, WithoutRoomOrASecondReaderThereIsNone) {
  const CudaLimits little{.shared_bytes = 48 << 10, .clusters = false};
  EXPECT_FALSE(brings(transpose(DType::bf16, 1024, 1024, 64, true), little));
  EXPECT_FALSE(brings(transpose(DType::bf16, 1024, 1024, 64), kLimits));
  // The last block is shorter.
  EXPECT_FALSE(brings(transpose(DType::bf16, 256, 1000, 64, true), kLimits));
}

// Kernels of a pack have no shared memory of their own.
TEST(CudaTile, AKernelWithATileIsNotPacked) {
  Kernel once = transpose(DType::bf16, 256, 1024, 64), twice = once;
  EXPECT_TRUE(can_be_packed(once, kLimits));
  twice.phases[0].stages.push_back(twice.phases[0].stages[0]);
  EXPECT_TRUE(brings(twice, kLimits));
  EXPECT_FALSE(can_be_packed(twice, kLimits));
}

// As in the text: which access of a tile lies where.
unsigned tile_line(unsigned accesses, unsigned row, unsigned access) {
  return (row * accesses + access) ^ ((row / 8 * accesses) & 7);
}

TEST(CudaTile, AccessesOfATileLieApartAndInDifferentBanks) {
  constexpr unsigned kRows = 64, kBanks = 8;  // of 16 bytes
  for (unsigned accesses : {1u, 2u, 4u, 8u}) {
    std::set<unsigned> lines;
    for (unsigned row = 0; row < kRows; ++row)
      for (unsigned access = 0; access < accesses; ++access)
        lines.insert(tile_line(accesses, row, access));
    EXPECT_EQ(lines.size(), kRows * accesses);
    EXPECT_LT(*lines.rbegin(), kRows * accesses);
    // Eight threads at a time: first along a row, then down by `step` rows.
    for (unsigned step : {1u, 8u})
      for (unsigned first = 0; first < 8; ++first) {
        std::set<unsigned> banks;
        for (unsigned thread = 0; thread < kBanks; ++thread)
          banks.insert(tile_line(accesses, step * (thread / accesses) + (step == 8 ? first : 0),
                                 thread % accesses) %
                       kBanks);
        EXPECT_EQ(banks.size(), kBanks) << accesses << " accesses, rows " << step << " apart";
      }
  }
}

}  // namespace
}  // namespace heddle
