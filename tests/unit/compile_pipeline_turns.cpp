// Pipelines of models that scan over their layers: stages have turns of the loops, and the rows of
// what these take.
#include <gmock/gmock.h>

#include "compiled.h"
#include "heddle/builder.h"
#include "heddle/deployment.h"
#include "heddle/pipeline_search.h"
#include "spmd/turns.h"
#include "step_runs.h"

namespace heddle::turn_tests {
namespace {

using testing::ElementsAre;

Type f32(Shape shape) { return Type::tensor(DType::f32, std::move(shape)); }
constexpr std::int64_t kLayers = 5, kWidth = 6, kBatch = 8;

Var row(Builder& b, Var stack, Var at) {
  Vars operands{stack, at};
  Shape sizes = stack.type().shape, shape(sizes.begin() + 1, sizes.end());
  sizes[0] = 1;
  while (operands.size() < sizes.size() + 1) operands.push_back(b.full_like(at, 0));
  return b.reshape(b.op("dynamic_slice", operands, {{"slice_sizes", Attr{Attr::Integers(sizes)}}}),
                   shape);
}

Var with_row(Builder& b, Var stack, Var value, Var at) {
  Shape shape = stack.type().shape;
  shape[0] = 1;
  Vars operands{stack, b.reshape(value, shape), at};
  while (operands.size() < shape.size() + 2) operands.push_back(b.full_like(at, 0));
  return b.op("dynamic_update_slice", operands);
}

// (w, m, x) -> (loss, new w, new m): a loop over layers, a loop back, and an update with momentum
// by a rate that depends on all gradients. With `skips` turn 0 takes row 1, and so on.
Program scanned(bool skips = false) {
  Builder b("scanned");
  const Type stack = f32({kLayers, kWidth, kWidth}), x = f32({kBatch, kWidth});
  b.function("main", {stack, stack, x}, [&](const Vars& in) -> Vars {
    const Var zero = b.full(Type::tensor(DType::i32, {}), 0);
    const auto goes_on = [&](const Vars& v) {
      return b.compare("LT", v[0], b.full_like(v[0], kLayers));
    };
    const auto place = [&](Var i) {
      return skips ? b.op("remainder", {i + 1.0, b.full_like(i, kLayers)}) : i;
    };
    const Vars forward =
        b.while_loop({zero, in[2], b.full(f32({kLayers, kBatch, kWidth}), 0)}, goes_on,
                     [&](const Vars& v) -> Vars {
                       return {v[0] + 1.0, b.op("tanh", {b.dot(v[1], row(b, in[0], place(v[0])))}),
                               with_row(b, v[2], v[1], v[0])};
                     });
    const Var y = forward[1];
    const Vars back =
        b.while_loop({zero, y * 2.0, y, b.full(stack, 0)}, goes_on, [&](const Vars& v) -> Vars {
          const Var at = b.full_like(v[0], kLayers - 1) - v[0];
          const Var into = row(b, forward[2], at), w = row(b, in[0], place(at));
          const Var d = v[1] * (1.0 - v[2] * v[2]);
          const Var gradient = b.dot(into, d, {{}, {}, {0}, {0}});
          return {v[0] + 1.0, b.dot(d, w, {{}, {}, {1}, {1}}), into,
                  with_row(b, v[3], gradient, place(at))};
        });
    const Var norm = b.op("sqrt", {b.reduce(back[3] * back[3], {0, 1, 2}, "add") + 1.0});
    const Var m = in[1] * 0.5 + back[3] / b.broadcast(norm, stack.shape);
    return {b.reduce(y * y, {0, 1}, "add"), in[0] - m * 0.125, m};
  });
  return b.finish().value();
}

const std::vector<Carried> kCarried = {{0, 1}, {1, 2}};

Target pipeline(const std::string& mesh, int chunks = 1) {
  Target target = mesh_target(mesh).value();
  target.pipeline = "pp";
  target.micro_batches = 4;
  target.chunks = chunks;
  target.carried = kCarried;
  return target;
}

void expect_same(const Program& program, const Target& target) {
  const auto wanted = interpret(program, program.functions[0], arguments_for(program)).value();
  const auto executable = compile(program, target);
  ASSERT_TRUE(executable) << executable.reason();
  Deployment devices = Deployment::open(*executable).value();
  const auto got = devices.run_whole(arguments_for(program));
  ASSERT_TRUE(got) << got.reason();
  expect_close(wanted, *got, target.mesh);
}

TEST(PipelineTurns, GiveWhatOneDeviceGives) {
  for (const char* mesh : {"pp=2", "pp=3", "pp=5", "pp=2,dp=2"})
    expect_same(scanned(), pipeline(mesh));
  expect_same(scanned(), pipeline("pp=2", 2));
}

// Five layers are not a multiple of two: one stage has three of them.
TEST(PipelineTurns, StagesHaveTheirRowsAlone) {
  const Executable executable = compile(scanned(), pipeline("pp=2")).value();
  const Placement& placement = executable.placement();
  for (const PlacedValue* value : {&placement.arguments[0], &placement.arguments[1],
                                   &placement.results[1], &placement.results[2]}) {
    EXPECT_THAT(value->stages(), ElementsAre(0, 1));
    ASSERT_EQ(value->rows_on(0).size(), 1u);
    ASSERT_EQ(value->rows_on(1).size(), 1u);
    const RowRange first = value->rows_on(0)[0], second = value->rows_on(1)[0];
    EXPECT_EQ(first.begin, 0);
    EXPECT_EQ(first.end, second.begin);
    EXPECT_EQ(second.end, kLayers);
    EXPECT_EQ(std::max(first.count(), second.count()), 3);
  }
  EXPECT_EQ(executable.stages().size(), 2u);
}

// What stages send each other does not grow with the layers.
TEST(PipelineTurns, OnlyStatesTravel) {
  const Pipeline made = distribute_pipeline(scanned(), pipeline("pp=2")).value();
  for (const StageChannel& channel : made.programs.channels)
    EXPECT_LE(channel.bytes, 2 * kBatch * kWidth * 4);
}

TEST(PipelineTurns, AreSearchedFor) {
  Target target = pipeline("pp=2");
  target.cluster = parse_cluster(R"({"name": "two", "device": {"memory": "1GB",
      "memory_rate": "1MB/s", "compute_rate": "0.001GFLOP/s"},
      "levels": [{"name": "pp", "size": 2, "rate": "1GB/s", "latency": "1us"}]})",
                                 "two")
                       .value();
  const FoundPipeline found = search_pipeline(scanned(), target).value();
  EXPECT_GE(found.cost, found.bound);
  Target planned = found.target;
  planned.cluster.reset();
  const Executable executable = compile(scanned(), planned).value();
  EXPECT_THAT(executable.placement().arguments[0].stages(), ElementsAre(0, 1));
  expect_same(scanned(), planned);
}

// A loop whose turns take other rows than their own is not taken apart.
TEST(PipelineTurns, OtherRowsStayTogether) {
  expect_same(scanned(true), pipeline("pp=2"));
  const Executable executable = compile(scanned(true), pipeline("pp=2")).value();
  EXPECT_FALSE(executable.placement().arguments[0].lies_in_rows());
}

class PipelineTurnSteps : public StepRuns {};

TEST_F(PipelineTurnSteps, GoOnFromOneAnothersCheckpoints) {
  Target one;
  one.carried = kCarried;
  const auto wanted = run(scanned(), one, 4);
  (void)run(scanned(), pipeline("pp=2", 2), 2, "", "pipeline");
  expect_close(wanted, run(scanned(), one, 2, "pipeline"), "from a pipeline to one device");
  expect_close(wanted, run(scanned(), pipeline("pp=3"), 2, "pipeline"),
               "from a pipeline to another");
  (void)run(scanned(), one, 2, "", "one");
  expect_close(wanted, run(scanned(), pipeline("pp=2,dp=2"), 2, "one"),
               "from one device to a pipeline");
}

}  // namespace
}  // namespace heddle::turn_tests
