// Pipelines that are found, or not: on programs with skip connections, on slow and on fast links,
// with little memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "compile/pipeline.h"
#include "heddle/carry.h"
#include "heddle/micro_batches.h"
#include "heddle/pipeline_search.h"
#include "heddle/stablehlo.h"
#include "training_text.h"

namespace heddle::pipeline_search_tests {
namespace {

using ::testing::HasSubstr;

Cluster cluster_of(int nodes, int devices, const std::string& between, const std::string& memory) {
  return parse_cluster(
             fmt::format(R"({{"name": "test", "device": {{"memory": "{}", "memory_rate": "1TB/s",
                              "compute_rate": "1TFLOP/s"}},
                 "levels": [{{"name": "node", "size": {}, "rate": "{}", "latency": "10us"}},
                            {{"name": "gpu", "size": {}, "rate": "200GB/s", "latency": "3us"}}]}})",
                         memory, nodes, between, devices),
             "test.json")
      .value();
}

Program read(const std::string& text) { return read_stablehlo(text, "test").value(); }

// Weights are carried; stages and micro-batches are searched for.
Target target_for(const Program& program, const Cluster& cluster) {
  Target target;
  target.mesh = kOwnMesh;
  target.options.entry = "main";
  target.cluster = cluster;
  target.layouts.search = 2;
  target.stages = 0;
  target.micro_batches = 0;
  target.chunks = 0;
  const std::size_t weights = program.functions[0].results.size() - 1;
  for (std::size_t i = 0; i < weights; ++i) target.carried.push_back({i, i + 1});
  return target;
}

// Ops of the function that is run per micro-batch go to later positions only, and every stage has
// some work. Gives the pairs of positions between which values go.
std::set<std::pair<int, int>> checked_edges(const Program& program, const FoundPipeline& found) {
  const StageCut& cut = *found.target.cut;
  MicroBatchOptions how;
  how.count = found.target.micro_batches;
  how.carried = found.target.carried;
  const MicroBatches micro = cut_into_micro_batches(program, how).value();
  const Program& parts = micro.program;
  const Function& function = *parts.find_function("main");
  const auto phases = micro_phases(parts, function, micro).value();
  std::set<std::pair<int, int>> edges;
  std::set<int> used;
  for (OpId id : parts.region(function.body).ops) {
    const int to = cut.position_of(id);
    if (to >= 0) used.insert(to);
    EXPECT_EQ(to >= 0, phases[id] != MicroPhase::before && parts.op(id).result_count > 0);
    EXPECT_EQ(to >= cut.shape.positions(), phases[id] == MicroPhase::after);
    for (ValueId v : parts.operands(parts.op(id))) {
      const OpId maker = parts.value(v).op;
      if (to < 0 || maker == kNone || cut.position_of(maker) < 0) continue;
      if (to >= cut.shape.positions()) continue;
      EXPECT_LE(cut.position_of(maker), to);
      edges.emplace(cut.position_of(maker), to);
    }
  }
  for (int p = 0; p < cut.shape.virtual_stages(); ++p) EXPECT_TRUE(used.contains(p)) << p;
  // The order of these edges never stops.
  std::vector<PipelineEdge> messages;
  for (const auto& [a, b] : edges)
    if (a != b) messages.push_back({a, b});
  const Verdict ends = free_of_deadlock(
      steps_of(cut.shape, pipeline_order(cut.shape).value(), messages), cut.shape.micro_batches);
  EXPECT_TRUE(ends.ok()) << ends.reason();
  return edges;
}

// Weights are large beside what layers give each other, and links between nodes are slow: stages
// send little, all else sends much.
TEST(PipelineSearch, DeepAndNarrowOnSlowLinksIsAPipeline) {
  const Program program = read(training_text::deep(256, 1024, 16));
  const auto found =
      search_pipeline(program, target_for(program, cluster_of(4, 1, "1GB/s", "8GB")));
  ASSERT_TRUE(found.ok()) << found.reason();
  EXPECT_GT(found->shape.stages, 1);
  EXPECT_GE(found->shape.micro_batches, found->shape.stages);
  EXPECT_EQ(found->target.pipeline, kStageAxis);
  EXPECT_LE(found->bound, found->cost);
  for (const TriedPipeline& tried : found->tried)
    EXPECT_TRUE(tried.cost == 0 || tried.cost >= found->cost) << tried.mesh;
  checked_edges(program, *found);
  for (const FoundPipeline::Value& weight : found->arguments)
    EXPECT_EQ(weight.stages.size(), 1) << weight.sharding;
}

// The same on fast links with a large batch: every device has its share of the batch.
TEST(PipelineSearch, AWideBatchOnFastLinksIsNone) {
  const Program program = read(training_text::deep(16384, 256, 8));
  const auto found =
      search_pipeline(program, target_for(program, cluster_of(2, 2, "200GB/s", "8GB")));
  ASSERT_TRUE(found.ok()) << found.reason();
  EXPECT_EQ(found->shape.stages, 1);
  EXPECT_EQ(found->shape.micro_batches, 1);
  EXPECT_FALSE(found->target.cut.has_value());
}

// Where activations of a whole batch do not fit, and nothing else helps as cheaply, the batch is
// worked on in parts.
TEST(PipelineSearch, LittleMemoryAccumulates) {
  const Program program = read(training_text::deep(8192, 256, 8));
  Target target = target_for(program, cluster_of(1, 2, "200GB/s", "8GB"));
  target.stages = 1;
  const auto roomy = search_pipeline(program, target);
  ASSERT_TRUE(roomy.ok()) << roomy.reason();
  EXPECT_EQ(roomy->shape.micro_batches, 1);
  target.layouts.device_memory = 24'000'000;
  const auto tight = search_pipeline(program, target);
  ASSERT_TRUE(tight.ok()) << tight.reason();
  EXPECT_GT(tight->shape.micro_batches, 1);
  EXPECT_GE(tight->cost, roomy->cost);
}

// Where memory is short, devices of a stage have parts of its weights; and stages take what they
// may when they are compiled.
TEST(PipelineSearch, StagesFitAsCompiledAndSplitWeights) {
  const Program program = read(training_text::deep(64, 128, 6));
  Target target = target_for(program, cluster_of(2, 2, "20GB/s", "8GB"));
  target.stages = 2;
  target.micro_batches = 4;
  const auto roomy = search_pipeline(program, target);
  ASSERT_TRUE(roomy.ok()) << roomy.reason();
  const std::int64_t all = bytes_of_stages(program, roomy->target).value();
  int found = 0;
  for (const double part : {0.9, 0.7, 0.6}) {
    target.layouts.device_memory = static_cast<std::int64_t>(part * static_cast<double>(all));
    const auto tight = search_pipeline(program, target);
    if (!tight) continue;
    ++found;
    EXPECT_LE(bytes_of_stages(program, tight->target).value(), target.layouts.device_memory);
    EXPECT_TRUE(std::ranges::any_of(tight->arguments, [](const FoundPipeline::Value& v) {
      return v.part.bytes() < v.type.bytes();
    }));
  }
  EXPECT_GE(found, 1);
}

// Skip connections go from one stage to another, past those in between.
TEST(PipelineSearch, UShapedIsCutAcrossItsSkips) {
  const Program program = read(training_text::u_shaped(256, 1024, 4));
  Target target = target_for(program, cluster_of(4, 1, "2GB/s", "8GB"));
  target.stages = 4;
  const auto found = search_pipeline(program, target);
  ASSERT_TRUE(found.ok()) << found.reason();
  EXPECT_EQ(found->shape.stages, 4);
  const auto edges = checked_edges(program, *found);
  const int forward = found->shape.virtual_stages();
  EXPECT_TRUE(std::ranges::any_of(
      edges, [&](const auto& e) { return e.second < forward && e.second > e.first + 1; }));
  // Five layers down and four up, in equal parts as far as that goes.
  for (const PipelineTimes::Stage& stage : found->times.stages)
    EXPECT_GT(stage.busy, 0.5 * found->times.stages[0].busy);
}

TEST(PipelineSearch, WhatIsFixedHolds) {
  const Program program = read(training_text::deep(64, 256, 6));
  Target target = target_for(program, cluster_of(2, 2, "1GB/s", "8GB"));
  target.stages = 2;
  target.micro_batches = 8;
  const auto found = search_pipeline(program, target);
  ASSERT_TRUE(found.ok()) << found.reason();
  EXPECT_EQ(found->shape.stages, 2);
  EXPECT_EQ(found->shape.micro_batches, 8);
  const auto again = search_pipeline(program, target);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->target.cut, found->target.cut);
  EXPECT_EQ(again->cost, found->cost);
  const std::vector<int>& positions = found->target.cut->positions;
  EXPECT_EQ(parse_cut(cut_text(positions)).value(), positions);
}

// An axis of a mesh carries the stages: that of as many devices, or the best.
TEST(PipelineSearch, AxesOfAMeshCarryStages) {
  const Program program = read(training_text::deep(64, 256, 6));
  Target target = target_for(program, cluster_of(2, 2, "1GB/s", "8GB"));
  target.cluster.reset();
  target.mesh = "pp=2,tp=3";
  target.stages = 3;
  const auto found = search_pipeline(program, target);
  ASSERT_TRUE(found.ok()) << found.reason();
  EXPECT_EQ(found->target.pipeline, "tp");
  EXPECT_EQ(found->shape.stages, 3);
  target.stages = 1;
  target.pipeline = "pp";
  target.micro_batches = 4;
  const auto named = search_pipeline(program, target);
  ASSERT_TRUE(named.ok()) << named.reason();
  EXPECT_EQ(named->shape.stages, 2);
  EXPECT_EQ(named->target.pipeline, "pp");
  checked_edges(program, *named);
}

TEST(PipelineSearch, WhatCannotBeIsSaid) {
  const Program program = read(training_text::deep(64, 256, 3));
  const auto why = [&](auto change) {
    Target target = target_for(program, cluster_of(2, 4, "1GB/s", "8GB"));
    change(target);
    const auto found = search_pipeline(program, target);
    return found ? "it was found" : found.reason();
  };
  EXPECT_THAT(why([](Target& t) { t.stages = 3; }), HasSubstr("3 stages do not fit cluster test"));
  EXPECT_THAT(why([](Target& t) { t.stages = 2, t.micro_batches = 7; }),
              HasSubstr("can be cut into 1, 2, 4, 8"));
  EXPECT_THAT(why([](Target& t) { t.mesh = "dp=2,pp=4", t.stages = 3; }),
              HasSubstr("3 stages need an axis of as many devices"));
  EXPECT_THAT(why([](Target& t) { t.stages = 2, t.micro_batches = 1; }),
              HasSubstr("work on micro-batches: say how many"));
  EXPECT_THAT(why([](Target& t) { t.mesh = "dp=8", t.pipeline = "pp"; }), HasSubstr("no axis pp"));
  EXPECT_THAT(why([](Target& t) { t.cluster.reset(); }), HasSubstr("name a cluster"));
  EXPECT_THAT(parse_cut("0x3 1y4").reason(), HasSubstr("is no cut"));
  EXPECT_THAT(parse_cut("0x99999999999").reason(), HasSubstr("is no cut"));
}

// What is said to do has been tried: with so much memory there is a plan.
TEST(PipelineSearch, AdviceHolds) {
  const Program program = read(training_text::deep(16, 32, 3));
  Target target = target_for(program, cluster_of(2, 1, "1GB/s", "8GB"));
  target.stages = 2;
  target.micro_batches = 4;
  target.layouts.device_memory = 2'000;
  const auto none = search_pipeline(program, target);
  ASSERT_FALSE(none.ok());
  const std::string& why = none.reason();
  EXPECT_THAT(why, HasSubstr("the best cut that was seen takes"));
  const std::size_t at = why.find("there is a plan with ");
  ASSERT_NE(at, std::string::npos) << why;
  const std::size_t begin = at + std::string("there is a plan with ").size();
  std::string bytes = why.substr(begin, why.find(" of each device") - begin);
  std::erase(bytes, ' ');
  target.layouts.device_memory = parse_bytes(bytes).value();
  const auto found = search_pipeline(program, target);
  EXPECT_TRUE(found.ok()) << found.reason();
}

// Where settings in a row bring nothing the others are left, with their floors: the bound holds for
// them, it is said how many they are, and the answer is the same every time.
TEST(PipelineSearch, SettingsInVainEndItWithABoundForAll) {
  const Program program = read(training_text::deep(256, 1024, 8));
  const Target target = target_for(program, cluster_of(4, 2, "1GB/s", "8GB"));
  std::int64_t needed = 0;
  const FoundPipeline all = best_of_settings(program, target, needed).value();
  const auto untried = [](const FoundPipeline& found) {
    return std::ranges::count_if(found.tried, &TriedPipeline::untried);
  };
  const auto searched = [](const FoundPipeline& found) {
    return std::ranges::count_if(found.tried, [](const TriedPipeline& t) { return t.cost > 0; });
  };
  EXPECT_EQ(untried(all), 0);
  const FoundPipeline some = best_of_settings(program, target, needed, 1).value();
  EXPECT_GT(untried(some), 0);
  EXPECT_LT(searched(some), searched(all));
  EXPECT_GE(some.cost, all.cost);
  EXPECT_GT(some.bound, 0);
  EXPECT_LE(some.bound, all.cost);
  for (const TriedPipeline& one : some.tried)
    if (one.untried) {
      EXPECT_LE(some.bound, one.bound) << one.mesh;
    }
  const FoundPipeline again = best_of_settings(program, target, needed, 1).value();
  EXPECT_EQ(again.cost, some.cost);
  EXPECT_EQ(untried(again), untried(some));
  Target thorough = target;
  thorough.layouts.search = 3;
  thorough.stages = 2;
  EXPECT_EQ(untried(best_of_settings(program, thorough, needed, 1).value()), 0);
}

// Who stops it waits for the plan: nothing more is looked at, and no bound is made up.
TEST(PipelineSearch, AStopEndsItWithWhatIsThere) {
  const Program program = read(training_text::deep(64, 32, 4));
  Target target = target_for(program, cluster_of(2, 2, "10GB/s", "1GB"));
  std::stop_source stop;
  stop.request_stop();
  target.layouts.search_stop = stop.get_token();
  const FoundPipeline found = search_pipeline(program, target).value();
  EXPECT_GT(found.cost, 0);
  EXPECT_EQ(found.bound, 0);
  const auto looked_at =
      std::ranges::count_if(found.tried, [](const TriedPipeline& one) { return one.why.empty(); });
  EXPECT_EQ(looked_at, 1);
}

}  // namespace
}  // namespace heddle::pipeline_search_tests
