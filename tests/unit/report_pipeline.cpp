// Reports of pipelines: who has what, who does it when, and what goes between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heddle/builder.h"
#include "heddle/compile.h"
#include "heddle/pipelined.h"
#include "heddle/plan_report.h"
#include "heddle/stablehlo.h"
#include "heddle/why_report.h"
#include "training_text.h"

namespace heddle::pipeline_report_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

const Program& program() {
  static const Program made = read_stablehlo(training_text::deep(64, 32, 4), "deep.mlir").value();
  return made;
}

// Two stages of two devices; the weights are carried.
Target target_for(int search) {
  Target target;
  target.mesh = "pp=2,dp=2:1TB/s:1ns";
  target.pipeline = "pp";
  target.options.entry = "main";
  target.micro_batches = 4;
  target.layouts.search = search;
  target.layouts.search_details = search > 0;
  target.chunks = search > 0 ? 0 : 1;
  for (std::size_t i = 0; i + 1 < program().functions[0].results.size(); ++i)
    target.carried.push_back({i, i + 1});
  return target;
}

TEST(PipelineReport, OfAGivenPipelineSaysWhoHasWhatAndWhen) {
  const Pipeline pipeline = distribute_pipeline(program(), target_for(0), false).value();
  EXPECT_TRUE(pipeline.programs.stages.empty());
  const PlanReport report = plan_report(pipeline);
  ASSERT_TRUE(report.pipeline.has_value());
  EXPECT_FALSE(report.pipeline->searched);
  EXPECT_EQ(report.pipeline->stages, 2);
  EXPECT_GT(report.pipeline->cost, 0);
  const PlannedFunction& f = report.functions[0];
  EXPECT_EQ(f.mesh, "pp=2,dp=2:1TB/s:1ns");
  EXPECT_EQ(f.devices, 4);
  EXPECT_THAT(f.arguments[0].stages, ElementsAre(0));
  EXPECT_THAT(f.arguments[3].stages, ElementsAre(1));
  EXPECT_EQ(f.arguments.size(), program().region(program().functions[0].body).args.size());
  EXPECT_THAT(report.text(), HasSubstr("per step as predicted"));
  EXPECT_THAT(report.text(), HasSubstr("stage 0 to 1"));
  // What each micro-batch sends forward is an activation of it, and its gradient comes back.
  ASSERT_EQ(report.pipeline->messages.size(), 2U);
  for (const PipelineReport::Messages& m : report.pipeline->messages) EXPECT_EQ(m.count, 4);
}

TEST(PipelineReport, TasksOfTheTimelineAreInOrderAndEndWithTheStep) {
  const Pipeline pipeline = distribute_pipeline(program(), target_for(0), false).value();
  const PlanReport report = plan_report(pipeline);
  const Json json = Json::parse(report.json());
  EXPECT_EQ(json["cost"], json["pipeline"]["cost"]);
  EXPECT_FALSE(json.contains("bound"));
  const Json& timeline = json["functions"][0]["timeline"];
  EXPECT_EQ(timeline["lanes"], Json({"stage 0", "stage 1"}));
  EXPECT_EQ(timeline["spans"].size(), 2 * (4 + 4 + 1));
  std::vector<double> free(2, 0);
  double last = 0;
  for (const Json& span : timeline["spans"]) {
    double& end = free[span["lane"].get<std::size_t>()];
    EXPECT_LE(end, span["begin"]);
    end = span["end"];
    last = std::max(last, end);
    EXPECT_LE(span["bytes"], json["pipeline"]["per_stage"][span["lane"].get<int>()]["peak_bytes"]);
  }
  EXPECT_EQ(last, json["cost"]);
}

// What is told of a plan is what the search has found, stage by stage.
TEST(PipelineReport, OfAFoundPipelineHasItsCostAndBound) {
  const FoundPipeline found = search_pipeline(program(), target_for(2)).value();
  const Pipeline pipeline = distribute_pipeline(program(), found.target, false).value();
  const PlanReport report = plan_report(pipeline, &found);
  EXPECT_TRUE(report.pipeline->searched);
  EXPECT_NEAR(report.pipeline->cost, found.cost, 0.05 * found.cost);
  EXPECT_LE(report.pipeline->bound, report.pipeline->cost);
  EXPECT_EQ(report.functions[0].search->cost, report.pipeline->cost);
  for (const PipelineReport::Stage& stage : report.pipeline->per_stage)
    EXPECT_GT(stage.peak_bytes, 0);
  const Json json = Json::parse(report.json());
  EXPECT_EQ(json["gap"], json["pipeline"]["gap"]);
  EXPECT_THAT(why_report(pipeline.spmd, "main", "arg0").value().text(), HasSubstr("why not"));
}

// Nothing says how the work is shared, so that both devices of a stage do all of it; the last stage
// has no weights by which to tell.
TEST(PipelineReport, DevicesThatDoTheSameShareNothing) {
  Builder b("tail");
  const Type weight = Type::tensor(DType::f32, {4, 4}), data = Type::tensor(DType::f32, {64, 4});
  b.function("main", {weight, data}, [&](const Vars& in) -> Vars {
    Var value = b.dot(in[1], in[0]);
    for (int i = 0; i < 12; ++i) value = b.op("tanh", {value});
    return {b.reduce(value, {0, 1}, "add")};
  });
  Target target = target_for(0);
  target.carried.clear();
  target.batch = BatchDim{1, 0};
  const Program made = b.finish().value();
  const PlanReport report = plan_report(distribute_pipeline(made, target, false).value());
  for (const PipelineReport::Stage& stage : report.pipeline->per_stage)
    EXPECT_EQ(stage.shape, "2 that do the same");
}

// Sums in another order are no difference.
TEST(PipelineReport, PlansThatTakeTheSameAreCalledTheSame) {
  OtherMesh other{.question = "tp=4", .mesh = "tp=2", .other_mesh = "tp=4", .other_seconds = 1e-3};
  other.seconds = 1e-3 * (1 + 1e-15);
  EXPECT_THAT(other.text(), HasSubstr(": the same"));
  other.seconds = 1.001e-3;
  EXPECT_THAT(other.text(), HasSubstr(": 1 us less"));
}

// What was stopped early is finished on its mesh: one plan has one cost in a report.
TEST(PipelineReport, TheCostIsThatOfThePlanThatIsTold) {
  Target target = target_for(2);
  target.mesh = "dp=2:1TB/s:1ns";
  target.pipeline.clear();
  target.micro_batches = 1;
  const Spmd spmd = distribute(program(), target).value();
  FoundPipeline found;
  found.cost = 1e3;
  const PlanReport report = plan_report(spmd, found);
  EXPECT_EQ(report.pipeline->cost, report.functions[0].search->cost);
  EXPECT_EQ(report.pipeline->gap, 1);
}

// A search that was stopped at once knows no bound, and says so instead of "not less than 0".
TEST(PipelineReport, WithoutABoundNoneIsTold) {
  PipelineReport report;
  report.cost = 1e-3;
  EXPECT_THAT(report.text(), HasSubstr("stopped before a bound was known"));
  report.bound = 0.5e-3;
  report.gap = 0.5;
  EXPECT_THAT(report.text(), HasSubstr("none takes less than 500 us (gap 50 %)"));
}

// Layers over many tokens with small weights, then, of their mean, layers with large ones.
Program tokens_then_weights() {
  constexpr std::int64_t kBatch = 16, kTokens = 1024, kNarrow = 128, kWide = 2048;
  const auto f32 = [](Shape shape) { return Type::tensor(DType::f32, std::move(shape)); };
  const std::vector<Shape> shapes = {
      {kNarrow, kNarrow}, {kNarrow, kNarrow}, {kNarrow, kWide}, {kWide, kWide}, {kWide, kWide}};
  Builder b("halves");
  std::vector<Type> types;
  for (const Shape& shape : shapes) types.push_back(f32(shape));
  types.push_back(f32({kBatch, kTokens, kNarrow}));
  b.function("main", types, [&](const Vars& in) -> Vars {
    // Every layer is tanh(value * w); the mean stands between the second and the third.
    Vars before, after;
    Var value = in.back();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (i == 2) value = b.reduce(value, {1}, "add") * (1.0 / kTokens);
      before.push_back(value);
      value = b.op("tanh", {b.dot(value, in[i])});
      after.push_back(value);
    }
    const Var loss = b.reduce(value * value, {0, 1}, "add");
    Var d = value * 2.0;
    Vars results(shapes.size() + 1);
    results[0] = loss;
    for (std::size_t i = shapes.size(); i-- > 0;) {
      d = d * (1.0 - after[i] * after[i]);
      const Builder::Dims rows = i < 2 ? Builder::Dims{0, 1} : Builder::Dims{0};
      const auto last = static_cast<std::int64_t>(rows.size());
      results[i + 1] = in[i] - b.dot(before[i], d, {{}, {}, rows, rows}) * 0.01;
      d = b.dot(d, in[i], {{}, {}, {last}, {1}});
      if (i == 2) d = b.broadcast(d * (1.0 / kTokens), {kBatch, kTokens, kNarrow}, {0, 2});
    }
    return results;
  });
  return b.finish().value();
}

// Every op chooses its axes, so that each stage has its own shape.
TEST(PipelineReport, StagesHaveShapesOfTheirOwn) {
  const Program halves = tokens_then_weights();
  Target target;
  target.mesh = kOwnMesh;
  target.options.entry = "main";
  target.cluster = parse_cluster(R"({"name": "test", "device": {"memory": "8GB",
                 "memory_rate": "1TB/s", "compute_rate": "10TFLOP/s"},
                 "levels": [{"name": "gpu", "size": 8, "rate": "200GB/s", "latency": "1us"}]})",
                                 "test.json")
                       .value();
  target.layouts.search = 2;
  target.stages = 2;
  target.micro_batches = 4;
  target.chunks = 1;
  for (std::size_t i = 0; i < 5; ++i) target.carried.push_back({i, i + 1});
  const auto report = plan_report(halves, target);
  ASSERT_TRUE(report.ok()) << report.reason();
  const auto& stages = report->pipeline->per_stage;
  EXPECT_EQ(stages[0].shape, "4 along the batch");
  EXPECT_EQ(stages[1].shape, "4 along weights");
  EXPECT_THAT(report->text(), HasSubstr("4 along weights"));
  // Finer meshes were looked at too.
  EXPECT_TRUE(std::ranges::any_of(report->pipeline->tried, [](const TriedPipeline& tried) {
    return tried.mesh == "stage=2,gpu=2,gpu_inner=2";
  }));
}

TEST(PipelineReport, TheProgramAloneGivesTheSame) {
  const PlanReport report = plan_report(program(), target_for(0)).value();
  EXPECT_EQ(report.pipeline->stages, 2);
  EXPECT_EQ(plan_report(program(), target_for(2)).value().pipeline->searched, true);
}

TEST(PipelineReport, TooLittleMemoryNamesTheStage) {
  const Pipeline pipeline = distribute_pipeline(program(), target_for(0), false).value();
  EXPECT_EQ(plan_report(pipeline, nullptr, {.memory = 1'000'000'000}).failure, "");
  EXPECT_THAT(plan_report(pipeline, nullptr, {.memory = 100}).failure,
              HasSubstr("a device of stage 0 needs"));
}

TEST(PipelineReport, ThePageHasAllOfIt) {
  const Pipeline pipeline = distribute_pipeline(program(), target_for(0), false).value();
  const std::string page = plan_page(pipeline.spmd, plan_report(pipeline), "plan");
  for (const char* part : {"\"timeline\"", "\"per_stage\"", "\"messages\"", "pipelineSection"})
    EXPECT_THAT(page, HasSubstr(part));
}

}  // namespace
}  // namespace heddle::pipeline_report_tests
