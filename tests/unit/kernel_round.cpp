// What a worker does in one turn: emitters read positions off the layout.
#include <gmock/gmock.h>

#include "heddle/notation.h"
#include "kernel/cpu_layout.h"
#include "kernel/cuda_round.h"
#include "kernel_examples.h"
#include "thread_text.h"

namespace heddle {
namespace {

using enum RoundAxis;

using examples::computed;

std::vector<Round> rounds() {
  return {Round({{{reg, 4}, {thread, 256}}, {}}),
          Round({{{thread, 256}, {vec, 8}}, {{vec, 1}}}),
          Round({{{thread, 8, 32}}, {{thread, 32}, {vec, 4}}}),
          Round({{{thread, 40}, {vec, 8}}, {{thread, 6, 40}}}),
          Round({{}, {{thread, 8, 32}, {reg, 4}, {thread, 32}, {vec, 4}}}),
          Round({{{thread, 3, 96}}, {{reg, 2}, {thread, 96}, {vec, 2}}})};
}

// The text finds, for each thread, the accesses that the layout gives it.
TEST(Round, TextAndLayoutAgree) {
  for (const Round& round : rounds()) {
    const std::string said = print_layout(round.layout(), kernel_axes());
    for (std::int64_t x = 0; x < round.points(0); ++x)
      for (std::int64_t y = 0; y < round.points(1); ++y) {
        const Coord lies = position_of(round.layout(), Index{x, y}).value();
        const std::int64_t thread = coord_on(lies, kernel_axis(RoundAxis::thread));
        const std::int64_t own = coord_on(lies, kernel_axis(RoundAxis::reg));
        const std::array<std::int64_t, 2> at = {x, y};
        for (std::size_t dim = 0; dim < 2; ++dim) {
          const std::int64_t of_own =
              round.size(dim, RoundAxis::reg) > 1 ? own * round.apart(dim) : 0;
          EXPECT_EQ(computed(cuda_first(round, dim), thread) + of_own,
                    at[dim] / round.size(dim, RoundAxis::vec))
              << said;
        }
      }
  }
}

// Threads that are one too many have places that no group has.
TEST(Round, ThreadsWithoutAPlaceAreBehindTheLast) {
  const Round round({{{thread, 40}}, {{thread, 6, 40}}});
  for (std::int64_t thread = 240; thread < 256; ++thread)
    EXPECT_GE(computed(cuda_first(round, 1), thread), round.threads(1));
}

TEST(Round, CountsWhatATurnHas) {
  const Round round({{{reg, 4}, {thread, 64}, {vec, 8}}});
  EXPECT_EQ(round.threads(0), 64);
  EXPECT_EQ(round.accesses(0), 256);
  EXPECT_EQ(round.points(0), 2048);
  EXPECT_EQ(round.apart(0), 64);
  EXPECT_EQ(print_layout(round.layout(), kernel_axes()), "(2048:4@reg:64@thread:8@vec)");
}

// ---- a CPU

std::vector<std::string> said(const Kernel& kernel) {
  return describe_cpu_mapping(kernel, {.vector_bytes = 64});
}

TEST(CpuLayout, BlocksStepsAndVectors) {
  EXPECT_THAT(
      said(examples::softmax(8, 256, 2)),
      testing::ElementsAre(
          "stage 0: blocks by loops lie at (4:4@block, 2:2@vec)",
          "stage 1: blocks by loops lie at (4:4@block, 2:2@step, 256:4@step:4@reg:16@vec)"));
  EXPECT_THAT(said(examples::squares(40003, 512)),
              testing::ElementsAre(
                  "stage 0: blocks by loops lie at (79:79@block, 512:8@step:4@reg:16@vec)"));
}

// Each point of a block has a place of its own.
TEST(CpuLayout, EveryPointIsDone) {
  for (const Kernel& kernel : {examples::softmax(8, 256, 2), examples::softmax(3, 77, 1),
                               examples::squares(40003, 512), examples::column_sum(301, 77, 5)})
    for (const Phase& phase : kernel.phases)
      for (const Stage& stage : phase.stages) {
        const VectorTarget target{.vector_bytes = 64};
        const StageShape shape = analyse(phase, stage, kernel, target);
        const auto layout = cpu_stage_layout(phase, stage, shape);
        ASSERT_TRUE(layout) << layout.reason();
        EXPECT_TRUE(check_covers(*layout)) << print_layout(*layout, kernel_axes());
        EXPECT_TRUE(validate(*layout, kernel_axes())) << print_layout(*layout, kernel_axes());
      }
}

}  // namespace
}  // namespace heddle
