// Orders of pipelines, the proof that they end, and how long they take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "heddle/pipeline.h"
#include "parallel/pipeline/cut.h"

namespace heddle::pipeline_tests {
namespace {

using ::testing::HasSubstr;
using Kind = PipelineTask::Kind;

// "F0 F1 B0 U"; with chunks "F0.1" for chunk 1.
std::string text_of(const std::vector<PipelineTask>& order, bool chunks = false) {
  std::string text;
  for (const PipelineTask& task : order) {
    if (!text.empty()) text += ' ';
    text += task.kind == Kind::forward ? 'F' : task.kind == Kind::backward ? 'B' : 'U';
    if (task.kind != Kind::update) text += std::to_string(task.micro_batch);
    if (chunks && task.kind != Kind::update) text += "." + std::to_string(task.chunk);
  }
  return text;
}

// Each position sends to the next one.
std::vector<PipelineEdge> chain(const PipelineShape& shape) {
  std::vector<PipelineEdge> edges;
  for (int p = 0; p + 1 < shape.positions(); ++p) edges.push_back({p, p + 1});
  return edges;
}

// Every position sends to every later one.
std::vector<PipelineEdge> all_edges(const PipelineShape& shape) {
  std::vector<PipelineEdge> edges;
  for (int p = 0; p < shape.positions(); ++p)
    for (int q = p + 1; q < shape.positions(); ++q) edges.push_back({p, q});
  return edges;
}

// Equal stages: `forward` and `backward` seconds each, messages of `transfer` seconds.
PipelineCosts even_costs(const PipelineShape& shape, double forward, double backward,
                         double transfer) {
  PipelineCosts costs;
  for (int p = 0; p < shape.positions(); ++p)
    costs.seconds.push_back(p < shape.virtual_stages() ? forward : backward);
  for (const PipelineEdge& e : chain(shape)) costs.transfers.push_back({e.from, e.to, transfer});
  costs.once.assign(static_cast<std::size_t>(shape.stages), 0);
  costs.resident.assign(static_cast<std::size_t>(shape.stages), 1000);
  costs.kept.assign(static_cast<std::size_t>(shape.virtual_stages()), 10);
  costs.while_busy.assign(static_cast<std::size_t>(shape.positions()), 1);
  return costs;
}

double seconds_of(const PipelineShape& shape, const PipelineCosts& costs) {
  return time_pipeline(shape, pipeline_order(shape).value(), costs).value().seconds;
}

TEST(PipelineOrder, OneForwardOneBackward) {
  const PipelineOrder order = pipeline_order({.stages = 3, .micro_batches = 4}).value();
  EXPECT_EQ(text_of(order[0]), "F0 F1 F2 B0 F3 B1 B2 B3 U");
  EXPECT_EQ(text_of(order[1]), "F0 F1 B0 F2 B1 F3 B2 B3 U");
  EXPECT_EQ(text_of(order[2]), "F0 B0 F1 B1 F2 B2 F3 B3 U");
}

TEST(PipelineOrder, OneStageAccumulates) {
  const PipelineOrder order = pipeline_order({.stages = 1, .micro_batches = 3}).value();
  EXPECT_EQ(text_of(order[0]), "F0 B0 F1 B1 F2 B2 U");
}

TEST(PipelineOrder, Interleaved) {
  const PipelineOrder order =
      pipeline_order({.stages = 2, .micro_batches = 4, .chunks = 2}).value();
  EXPECT_EQ(text_of(order[0], true),
            "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 B2.1 B3.1 B2.0 B3.0 U");
  EXPECT_EQ(text_of(order[1], true),
            "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0 U");
}

TEST(PipelineOrder, WithoutAWayBack) {
  const PipelineOrder order =
      pipeline_order({.stages = 2, .micro_batches = 3, .backward = false}).value();
  EXPECT_EQ(text_of(order[0]), "F0 F1 F2 U");
  EXPECT_EQ(text_of(order[1]), "F0 F1 F2 U");
}

TEST(PipelineOrder, WrongShapesAreRefused) {
  EXPECT_THAT(pipeline_order({.stages = 0}).reason(), HasSubstr("each is at least 1"));
  EXPECT_THAT(pipeline_order({.stages = 4, .micro_batches = 6, .chunks = 2}).reason(),
              HasSubstr("groups of 4"));
  EXPECT_THAT(pipeline_order({.stages = 1 << 20, .micro_batches = 1 << 20}).reason(),
              HasSubstr("too large"));
}

// Each task once, on every stage, and none runs for ever, with skip connections of any kind.
TEST(PipelineOrder, AllShapesEnd) {
  for (const bool backward : {true, false})
    for (int stages = 1; stages <= 6; ++stages)
      for (int batches = 1; batches <= 9; ++batches)
        for (int chunks = 1; chunks <= 3; ++chunks) {
          const PipelineShape shape{stages, batches, chunks, backward};
          const auto order = pipeline_order(shape);
          if (chunks > 1 && batches % stages != 0) {
            EXPECT_FALSE(order.ok());
            continue;
          }
          ASSERT_TRUE(order.ok()) << order.reason();
          std::set<std::pair<int, int>> done;
          for (int s = 0; s < stages; ++s)
            for (const PipelineTask& task : (*order)[static_cast<std::size_t>(s)]) {
              if (task.kind == Kind::update) continue;
              EXPECT_TRUE(done.emplace(position_of(shape, s, task), task.micro_batch).second);
            }
          EXPECT_EQ(done.size(), static_cast<std::size_t>(shape.positions() * batches));
          const Verdict near = free_of_deadlock(steps_of(shape, *order, chain(shape)), 1);
          EXPECT_TRUE(near.ok()) << near.reason();
          const Verdict far = free_of_deadlock(steps_of(shape, *order, all_edges(shape)), batches);
          EXPECT_TRUE(far.ok()) << far.reason();
        }
}

TEST(PipelineProof, FindsWhoWaitsForWhom) {
  const PipelineShape shape{.stages = 2, .micro_batches = 1};
  PipelineOrder order = pipeline_order(shape).value();
  // The first stage wants the way back of a micro-batch before it has sent it.
  std::swap(order[0][0], order[0][1]);
  const Verdict verdict = free_of_deadlock(steps_of(shape, order, chain(shape)));
  ASSERT_FALSE(verdict.ok());
  EXPECT_THAT(verdict.reason(), HasSubstr("stop for ever: stage 0 at backward 0"));
  EXPECT_THAT(verdict.reason(), HasSubstr("which waits for"));
  EXPECT_THAT(time_pipeline(shape, order, even_costs(shape, 1, 1, 0)).reason(),
              HasSubstr("stop for ever"));
}

TEST(PipelineProof, RoomIsPartOfIt) {
  // Both send twice before they receive.
  const PipelineStep to_1{PipelineStep::Kind::send, {}, 1, 0, 0},
      to_0{PipelineStep::Kind::send, {}, 0, 0, 0};
  PipelineSteps steps(2);
  for (std::int64_t n = 0; n < 2; ++n) {
    steps[0].push_back(to_1);
    steps[1].push_back(to_0);
    steps[0].back().message = steps[1].back().message = n;
  }
  for (std::int64_t n = 0; n < 2; ++n)
    for (int s = 0; s < 2; ++s)
      steps[static_cast<std::size_t>(s)].push_back({PipelineStep::Kind::receive, {}, 1 - s, 0, n});
  EXPECT_TRUE(free_of_deadlock(steps, 2).ok());
  EXPECT_THAT(free_of_deadlock(steps, 1).reason(), HasSubstr("stop for ever"));
  EXPECT_THAT(free_of_deadlock(steps, 0).reason(), HasSubstr("1 at least"));
  std::swap(steps[1][2], steps[1][3]);
  EXPECT_THAT(free_of_deadlock(steps, 2).reason(), HasSubstr("in another order"));
  steps[1].pop_back();
  EXPECT_FALSE(free_of_deadlock(steps, 2).ok());
  steps[1].pop_back();
  EXPECT_THAT(free_of_deadlock(steps, 2).reason(), HasSubstr("no counterpart"));
  steps[1].push_back({PipelineStep::Kind::receive, {}, 7, 0, 0});
  EXPECT_THAT(free_of_deadlock(steps, 2).reason(), HasSubstr("no such other stage"));
}

// Σt + (m-1) max t, where messages take no time; the bubble is (S-1)/(m+S-1).
TEST(PipelineTimes, EvenStagesTakeTheKnownTime) {
  for (int stages = 1; stages <= 5; ++stages)
    for (int batches = stages; batches <= 12; ++batches) {
      const PipelineShape shape{stages, batches};
      const auto times =
          time_pipeline(shape, pipeline_order(shape).value(), even_costs(shape, 1, 2, 0)).value();
      EXPECT_DOUBLE_EQ(times.seconds, 3.0 * (batches + stages - 1));
      EXPECT_NEAR(times.bubble, (stages - 1.0) / (batches + stages - 1), 1e-12);
      for (int s = 0; s < stages; ++s) {
        const auto& stage = times.stages[static_cast<std::size_t>(s)];
        EXPECT_DOUBLE_EQ(stage.busy, 3.0 * batches);
        // As many are under way as the way to the end is long.
        EXPECT_EQ(stage.peak_bytes, 1000 + 10 * (stages - s) + 1);
      }
    }
}

// Chunks make the bubble smaller by as many times as there are, at the price of memory.
TEST(PipelineTimes, InterleavingMakesTheBubbleSmaller) {
  const PipelineShape plain{4, 8}, fine{4, 8, 2};
  PipelineCosts halves = even_costs(fine, 0.5, 1, 0);
  EXPECT_DOUBLE_EQ(seconds_of(plain, even_costs(plain, 1, 2, 0)), 33);
  EXPECT_DOUBLE_EQ(seconds_of(fine, halves), 24 + 9 / 2.0);
}

TEST(PipelineTimes, MessagesGoBesideWork) {
  const PipelineShape shape{2, 4};
  // A message is hidden in the middle, and waited for at both ends.
  const double without = seconds_of(shape, even_costs(shape, 2, 2, 0));
  const double with = seconds_of(shape, even_costs(shape, 2, 2, 0.5));
  EXPECT_GT(with, without);
  EXPECT_LT(with, without + 8 * 0.5);
  // A value that goes to a position of the same stage is there already.
  PipelineCosts same = even_costs(shape, 2, 2, 0);
  same.transfers.push_back({0, 3, 100});
  EXPECT_DOUBLE_EQ(seconds_of(shape, same), without);
  same.transfers.push_back({2, 1, 1});
  EXPECT_THAT(time_pipeline(shape, pipeline_order(shape).value(), same).reason(),
              HasSubstr("later ones only"));
}

TEST(PipelineTimes, TheUpdateComesLast) {
  const PipelineShape shape{2, 2};
  PipelineCosts costs = even_costs(shape, 1, 1, 0);
  costs.once = {5, 1};
  const auto times = time_pipeline(shape, pipeline_order(shape).value(), costs).value();
  EXPECT_DOUBLE_EQ(times.seconds, 2 * 3 + 5);
  EXPECT_EQ(times.stages[0].spans.back().task.kind, Kind::update);
}

// Stage s works m times after those before it have worked once: known in closed form for one chunk.
TEST(PipelineBound, StagesThatWaitTakeTheKnownTime) {
  for (const auto& [stages, batches] : {std::pair(2, 4), std::pair(4, 8), std::pair(8, 32)}) {
    const PipelineShape shape{stages, batches, 1, true};
    const double m = batches, known = 1 / (m * (1 - std::pow(1 - 1 / m, stages)));
    const double least = pipeline::least_of_chain(shape, 1, 1 / (known * stages), 0);
    EXPECT_LE(least, known * (1 + 1e-9)) << stages;
    EXPECT_GE(least, 0.97 * known) << stages;
    // Messages there and back make it longer, by no more than all of them one after the other.
    const double apart = pipeline::least_of_chain(shape, 1, 1 / (known * stages), 0.1);
    EXPECT_GT(apart, least + 0.1) << stages;
    EXPECT_LE(apart, least + 2.0 * batches * stages * 0.1) << stages;
  }
}

}  // namespace
}  // namespace heddle::pipeline_tests
