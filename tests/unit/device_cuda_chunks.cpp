// Chunk programs with a kernel inside, as NVRTC compiles them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/chunk_launch.h"
#include "device/cuda/nvrtc.h"
#include "kernel/emit_cuda.h"
#include "kernel_examples.h"
#include "nvrtc_environment.h"
#include "schedule/chunks/collective_chunks.h"

namespace heddle::cuda {
namespace cuda_chunk_launch_tests {

using chunks::ChunkedCollective;
using testing::ElementsAre;
using testing::HasSubstr;

// So much to compute that blocks stay, which are all alike.
Kernel heavy(std::int64_t n, std::int64_t block) {
  Kernel kernel = named_kernel("heavy");
  const auto x = add_buffer(kernel, Reach::input, DType::f32, n);
  const auto y = add_buffer(kernel, Reach::output, DType::f32, n);
  Phase phase = phase_over({{n, block}});
  StageBuilder stage(kernel, {{block, 0}});
  const NodeId at = stage.add(stage.outer(0), stage.loop(0));
  NodeId value = stage.load(x, at);
  for (int i = 0; i < 8; ++i)
    value = stage.op(ScalarOp::divide, stage.op(ScalarOp::multiply, value, value), value);
  stage.store(y, at, value);
  phase.stages.push_back(stage.stage);
  kernel.phases = {phase};
  return kernel;
}

Expected<ChunkText> text_of(const ChunkedCollective& wanted, const Kernel& kernel, DType dtype) {
  const chunks::ChunkProgram program = chunks::collective_chunks(wanted).value();
  HEDDLE_TRY(ChunkText made, chunk_text({.program = &program, .dtype = dtype}, kernel, 0, 16));
  EXPECT_EQ(made.chunks.rank_blocks, 16);
  return made;
}

void expect_it_compiles(const std::string& text) {
  const auto object = compile_cuda(text, "sm_90");
  ASSERT_TRUE(object) << object.reason();
  ASSERT_EQ(object->functions.size(), 1U);
  EXPECT_EQ(object->functions[0].name, "chunks");
  EXPECT_EQ(object->functions[0].spilled_bytes, 0);
  EXPECT_LE(object->functions[0].registers, 128);  // room for two blocks of a multiprocessor
}

TEST(CudaChunkLaunch, CompilesWithAKernelInside) {
  use_build_environment();
  if (!find_nvrtc()) GTEST_SKIP() << find_nvrtc().reason();
  for (const chunks::Protocol protocol :
       {chunks::Protocol::direct, chunks::Protocol::bandwidth, chunks::Protocol::latency}) {
    const bool is_heavy = protocol == chunks::Protocol::latency;
    const auto text =
        text_of({.algorithm = chunks::Algorithm::ring,
                 .protocol = protocol,
                 .ranks = 4,
                 .elements = 4 * 8192,
                 .chunks = 2,
                 .grain = 1024,
                 .finish = true},
                is_heavy ? heavy(8192, 512) : examples::squares(8192, 1024), DType::f32);
    ASSERT_TRUE(text) << text.reason();
    EXPECT_TRUE(text->parts.empty());
    expect_it_compiles(text->text);
  }
}

// Eight ranks' parts are added up in registers.
TEST(CudaChunkLaunch, CompilesWithSumsInsideOfTheKernel) {
  use_build_environment();
  if (!find_nvrtc()) GTEST_SKIP() << find_nvrtc().reason();
  const auto text = text_of({.ranks = 8,
                             .elements = 8 * 8192,
                             .chunks = 2,
                             .grain = 1024,
                             .order = {0, 2, 1, 3, 4, 5, 6, 7},
                             .finish = true},
                            examples::squares(8192, 1024), DType::f32);
  ASSERT_TRUE(text) << text.reason();
  EXPECT_THAT(text->parts, ElementsAre(0, 2, 1, 3, 4, 5, 6, 7));
  expect_it_compiles(text->text);
}

// A kernel on what is handed on: behind a norm.
TEST(CudaChunkLaunch, CompilesWithAKernelBeforeAGather) {
  use_build_environment();
  if (!find_nvrtc()) GTEST_SKIP() << find_nvrtc().reason();
  const auto text = text_of({.kind = CollectiveKind::all_gather,
                             .ranks = 2,
                             .elements = 2 * 8192,
                             .grain = 1024,
                             .finish = true},
                            examples::squares(8192, 1024), DType::f32);
  ASSERT_TRUE(text) << text.reason();
  expect_it_compiles(text->text);
}

// Blocks that are all alike go stage by stage: each has as many elements as it had.
TEST(CudaChunkLaunch, BlocksOfAKernelStayAsTheyAre) {
  Kernel kernel = examples::squares(8192, 512);
  kernel.phases[0].outer.push_back({1, 1});
  EXPECT_FALSE(emit_cuda_part(kernel));
  kernel = examples::squares(8192, 512);
  EXPECT_EQ(emit_cuda_part(kernel)->positions, 1024);  // accesses of 16 bytes by 256 threads
  EXPECT_EQ(emit_cuda_part(heavy(8192, 512))->positions, 512);
}

TEST(CudaChunkLaunch, WhatAKernelCannotDoInPartsIsRefused) {
  const ChunkedCollective wanted{.ranks = 2, .elements = 16384, .finish = true};
  EXPECT_THAT(text_of(wanted, examples::softmax(64, 128), DType::f32).reason(),
              HasSubstr("does not take its elements one after the other"));
  ChunkedCollective odd = wanted;
  odd.chunks = 3;
  EXPECT_THAT(text_of(odd, examples::squares(8192, 1024), DType::f32).reason(),
              HasSubstr("chunks begin inside of what a block of 1024 elements has"));
  ChunkedCollective ragged = wanted;
  ragged.elements = 16380;
  EXPECT_THAT(text_of(ragged, examples::squares(8190, 1024), DType::f32).reason(),
              HasSubstr("slices do not begin at multiples of 16 bytes"));
  ragged.elements = 16385;
  EXPECT_THAT(text_of(ragged, examples::squares(8192, 1024), DType::f32).reason(),
              HasSubstr("slices differ, and the kernel is for 8192 elements"));
}

// Blocks that would spin for others that have no room.
TEST(CudaChunkLaunch, WhatHasNoRoomIsRefusedBeforeItIsLaunched) {
  EXPECT_TRUE(check_room(264, 264));
  EXPECT_EQ(check_room(1056, 264).reason(),
            "1056 blocks would wait for each other, and there is room for 264 at once");
}

}  // namespace cuda_chunk_launch_tests
}  // namespace heddle::cuda
