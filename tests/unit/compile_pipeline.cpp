// Pipelines: stages with programs of their own, on devices of their own.
#include <gmock/gmock.h>

#include "compiled.h"
#include "heddle/builder.h"
#include "heddle/deployment.h"
#include "step_runs.h"

namespace heddle::pipeline_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Type f32(Shape shape) { return Type::tensor(DType::f32, std::move(shape)); }

// (w0, …, w3, x) -> (loss, new w0, …, new w3): four layers one after the other. With `tied` the
// last layer has the first one's weight.
Program layers(bool tied = false) {
  constexpr std::size_t kLayers = 4;
  Builder b("layers");
  std::vector<Type> types(kLayers, f32({6, 6}));
  types.push_back(f32({8, 6}));
  b.function("main", types, [&](const Vars& in) -> Vars {
    const auto w = [&](std::size_t i) { return in[tied && i + 1 == kLayers ? 0 : i]; };
    Vars values = {in.back()};
    for (std::size_t i = 0; i < kLayers; ++i)
      values.push_back(b.op("tanh", {b.dot(values.back(), w(i))}));
    const Var loss = b.reduce(values.back() * values.back(), {0, 1}, "add");
    Var d = values.back() * 2.0;
    Vars gradients(kLayers);
    for (std::size_t i = kLayers; i-- > 0;) {
      d = d * (1.0 - values[i + 1] * values[i + 1]);
      gradients[i] = b.dot(values[i], d, {{}, {}, {0}, {0}});
      d = b.dot(d, w(i), {{}, {}, {1}, {1}});
    }
    if (tied) gradients[0] = gradients[0] + gradients[kLayers - 1];
    Vars results = {loss};
    for (std::size_t i = 0; i < kLayers; ++i)
      results.push_back(tied && i + 1 == kLayers ? in[i] : in[i] - gradients[i] * 0.125);
    return results;
  });
  return b.finish().value();
}

const std::vector<Carried> kCarried = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};

Target pipeline(const std::string& mesh, std::int64_t micro_batches = 4, int chunks = 1) {
  Target target = mesh_target(mesh).value();
  target.pipeline = "pp";
  target.micro_batches = micro_batches;
  target.chunks = chunks;
  target.carried = kCarried;
  return target;
}

std::vector<Array> wanted_of(const Program& program) {
  return interpret(program, program.functions[0], arguments_for(program)).value();
}

void expect_same(const Program& program, const Target& target) {
  const auto executable = compile(program, target);
  ASSERT_TRUE(executable) << executable.reason();
  Deployment devices = Deployment::open(*executable).value();
  const auto got = devices.run_whole(arguments_for(program));
  ASSERT_TRUE(got) << got.reason();
  expect_close(wanted_of(program), *got, target.mesh);
}

std::string why_not(const Target& target) {
  const auto executable = compile(layers(), target);
  return executable ? "it was compiled" : executable.reason();
}

TEST(Pipeline, GivesWhatOneDeviceGives) {
  for (const char* mesh : {"pp=2", "pp=4", "pp=2,dp=2", "dp=2,pp=2"})
    expect_same(layers(), pipeline(mesh));
  Target split = pipeline("pp=2,dp=2");
  split.layouts.shards = {{"arg4", "dp,_", "test"}};
  expect_same(layers(), split);
}

TEST(Pipeline, InterleavedToo) { expect_same(layers(), pipeline("pp=2", 4, 2)); }

TEST(Pipeline, AWeightOfTwoStagesLiesOnOne) {
  const Program program = layers(true);
  const Executable executable = compile(program, pipeline("pp=2")).value();
  EXPECT_THAT(executable.placement().arguments[0].stages(), ElementsAre(0));
  expect_same(program, pipeline("pp=2"));
  expect_same(program, pipeline("pp=4"));
}

TEST(Pipeline, EachStageHasItsWeights) {
  const Executable executable = compile(layers(), pipeline("pp=2")).value();
  const Placement& placement = executable.placement();
  EXPECT_EQ(placement.devices(), 2);
  EXPECT_EQ(executable.stages().size(), 2u);
  EXPECT_THAT(placement.arguments[0].stages(), ElementsAre(0));
  EXPECT_THAT(placement.arguments[3].stages(), ElementsAre(1));
  for (const Carried& c : kCarried)
    EXPECT_EQ(placement.arguments[c.argument].stages(), placement.results[c.result].stages());
  const std::int64_t one = compile(layers(), Target{}).value().placement().argument_bytes();
  EXPECT_LT(placement.argument_bytes(), one);
}

// A rank compiles what it does itself and nothing else.
TEST(Pipeline, ARankHasItsOwnStage) {
  Target target = pipeline("pp=2");
  target.ranks = true;
  for (int rank : {0, 1}) {
    target.rank = rank;
    const Executable executable = compile(layers(), target).value();
    EXPECT_EQ(executable.stages().size(), 1u);
    EXPECT_EQ(executable.placement().fingerprint,
              compile(layers(), pipeline("pp=2")).value().placement().fingerprint);
  }
}

class PipelineSteps : public StepRuns {};

TEST_F(PipelineSteps, GoOnFromOneAnothersCheckpoints) {
  Target one;
  one.carried = kCarried;
  const auto wanted = run(layers(), one, 4);
  expect_close(wanted, run(layers(), pipeline("pp=2,dp=2"), 4), "four steps");
  (void)run(layers(), pipeline("pp=2,dp=2"), 2, "", "pipeline");
  expect_close(wanted, run(layers(), one, 2, "pipeline"), "from a pipeline to one device");
  expect_close(wanted, run(layers(), pipeline("pp=4"), 2, "pipeline"),
               "from a pipeline to another");
  (void)run(layers(), one, 2, "", "one");
  expect_close(wanted, run(layers(), pipeline("dp=2,pp=2"), 2, "one"),
               "from one device to a pipeline");
}

TEST(Pipeline, WrongWords) {
  EXPECT_EQ(why_not(pipeline("dp=2")), "pipeline pp: mesh dp=2 has no such axis");
  EXPECT_THAT(why_not(pipeline("pp=2", 1)), HasSubstr("say how many, 2 or more"));
  EXPECT_THAT(why_not(pipeline("pp=2", 3)), HasSubstr("can be cut into 1, 2, 4, 8"));
  EXPECT_THAT(why_not(pipeline("pp=64", 8)), HasSubstr("cannot be cut into 64 stages"));
  EXPECT_THAT(why_not(pipeline("@")), HasSubstr("needs a mesh whose axes are said"));
  Target other = pipeline("pp=2");
  other.cut = StageCut{.shape = {.stages = 3}, .positions = {}, .arguments = {}};
  EXPECT_THAT(why_not(other), HasSubstr("was made for another pipeline"));
}

}  // namespace
}  // namespace heddle::pipeline_tests
