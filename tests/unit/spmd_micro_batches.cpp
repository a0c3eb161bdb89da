// Programs whose batch is cut into parts that are worked on one after the other.
#include <gmock/gmock.h>

#include "heddle/micro_batches.h"
#include "heddle/stage_programs.h"
#include "spmd_mesh.h"

namespace heddle::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// (w, x, y) -> (loss, w - gradient, prediction)
Program linear_step(std::int64_t rows = 8) {
  Builder b("step");
  b.function("main", {f32({4, 2}), f32({rows, 4}), f32({rows, 2})}, [&](const Vars& in) -> Vars {
    const Var p = b.dot(in[1], in[0]);
    const Var error = p - in[2];
    const Var gradient = b.dot(in[1], error, {{}, {}, {0}, {0}});
    return {b.reduce(error * error, {0, 1}, "add"), in[0] - gradient * 0.125, p};
  });
  return b.finish().value();
}

std::vector<Array> arguments_of(const Program& program) {
  std::vector<Array> arguments;
  for (ValueId v : program.region(program.functions[0].body).args)
    arguments.push_back(ramp(program.type_of(v)));
  return arguments;
}

double apart(const std::vector<Array>& one, const std::vector<Array>& other) {
  double largest = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].type(), other[i].type());
    for (std::size_t k = 0; k < one[i].as<float>().size(); ++k)
      largest =
          std::max<double>(largest, std::abs(one[i].as<float>()[k] - other[i].as<float>()[k]));
  }
  return largest;
}

std::string why_not(const Program& program, MicroBatchOptions options = {.count = 2}) {
  const auto cut = cut_into_micro_batches(program, options);
  return cut ? "it was cut" : cut.reason();
}

std::size_t ops_named(const Program& program, std::string_view name) {
  std::size_t found = 0;
  for (OpId id = 0; id < program.op_count(); ++id) found += program.op(id).def->name == name;
  return found;
}

TEST(MicroBatches, TheBatchIsFound) {
  const MicroBatches cut = cut_into_micro_batches(linear_step(), {.count = 4}).value();
  EXPECT_EQ(cut.batch, (BatchDim{1, 0}));
  EXPECT_THAT(cut.arguments, ElementsAre(-1, 0, 0));
  EXPECT_THAT(cut.results, ElementsAre(-1, -1, 0));
  const std::vector<ValueId>& args = cut.program.region(cut.program.functions[0].body).args;
  ASSERT_EQ(args.size(), 4u);
  EXPECT_EQ(cut.program.type_of(args[1]).shape, (Shape{2, 4}));
  EXPECT_EQ(ops_named(cut.program, "heddle.sum_over_micro_batches"), 2u);
}

TEST(MicroBatches, SumsAndPartsAreThoseOfTheWholeBatch) {
  const Program program = linear_step();
  const auto arguments = arguments_of(program);
  const auto whole = interpret(program, program.functions[0], arguments).value();
  for (std::int64_t count : {1, 2, 4, 8}) {
    const MicroBatches cut = cut_into_micro_batches(program, {.count = count}).value();
    const Program loop = accumulated(cut.program, cut).value();
    const auto parts = interpret(loop, loop.functions[0], arguments).value();
    EXPECT_LT(apart(whole, parts), 1e-4) << count;
  }
}

TEST(MicroBatches, EveryOpHasItsTime) {
  const MicroBatches cut =
      cut_into_micro_batches(linear_step(), {.count = 2, .carried = {{0, 1}}}).value();
  const Function& main = cut.program.functions[0];
  const auto phases = micro_phases(cut.program, main, cut).value();
  for (OpId id : cut.program.region(main.body).ops) {
    const std::string_view name = cut.program.op(id).def->short_name();
    if (name == "dot_general" || name == "sum_over_micro_batches") {
      EXPECT_EQ(phases[id], MicroPhase::each) << name;
    } else if (name == "constant") {
      EXPECT_EQ(phases[id], MicroPhase::before);
    }
  }
  const Op& end = cut.program.op(cut.program.region(main.body).ops.back());
  const ValueId updated = cut.program.operands(end)[1];
  EXPECT_EQ(phases[cut.program.value(updated).op], MicroPhase::after);
}

// Every device has its share of each micro-batch, and gradients are summed over devices once.
TEST(MicroBatches, OnAMeshSumsOverDevicesAreMadeOnce) {
  const Program program = linear_step();
  MicroBatches cut = cut_into_micro_batches(program, {.count = 2, .carried = {{0, 1}}}).value();
  (void)cut.program.add_mesh("mesh", {{"x", 2}}).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.function = "main";
  options.seeds = {argument(1, {{"x"}, {}})};
  options.carried = {{0, 1}};
  const Spmd spmd = accumulated(partition(cut.program, options).value(), cut).value();
  EXPECT_EQ(counts(spmd), (std::map<std::string, int>{{"all-reduce over x", 2}}));
  for (const Communication& c : spmd.functions[0].communications) EXPECT_EQ(c.depth, 0);
  const SpmdFunction& f = spmd.functions[0];
  ASSERT_EQ(f.arguments.size(), 3u);
  EXPECT_EQ(f.argument_types[1].shape, (Shape{8, 4}));
  EXPECT_THAT(elements_of(f.arguments[1].dims[0], spmd.program.meshes[0].mesh, 1),
              ElementsAre(2, 3, 6, 7));
  EXPECT_LT(difference(program, spmd), 1e-4);
}

TEST(MicroBatches, CountsThatDoNotDivideAreRefused) {
  EXPECT_EQ(why_not(linear_step(12), {.count = 5}),
            "5 micro-batches: the batch, dimension 0 of argument 1 (tensor<12x4xf32>), has 12 "
            "elements, which can be cut into 1, 2, 3, 4, 6, 12");
}

TEST(MicroBatches, BatchNormNeedsTheWholeBatch) {
  Builder b("norm");
  b.function("main", {f32({8, 4})}, [&](const Vars& in) -> Vars {
    const Var mean = b.reduce(in[0], {0}, "add") * 0.125;
    return {in[0] - b.broadcast(mean, {8, 4}, {1})};
  });
  EXPECT_THAT(why_not(b.finish().value(), {.count = 2, .batch = BatchDim{0, 0}}),
              HasSubstr("[subtract] it needs a sum over the whole batch"));
}

// In words of who wrote the program: no collective stands in it.
TEST(MicroBatches, WhatIsNoSumIsCalledByItsName) {
  Builder b("largest");
  b.function("main", {f32({8, 4})}, [&](const Vars& in) -> Vars {
    return {in[0] - b.broadcast(b.reduce(in[0], {0}, "maximum"), {8, 4}, {1})};
  });
  const std::string why = why_not(b.finish().value(), {.count = 2, .batch = BatchDim{0, 0}});
  EXPECT_THAT(why, HasSubstr("[max over the batch] it needs the whole batch at once"));
  EXPECT_THAT(why, Not(HasSubstr("all_reduce")));
}

TEST(MicroBatches, ASumSoFarNeedsTheWholeBatch) {
  Builder b("turned");
  b.function("main", {f32({8, 4})}, [&](const Vars& in) -> Vars {
    return {b.op("reverse", {in[0]}, {{"dimensions", Attr{Attr::Integers({0})}}})};
  });
  const std::string why = why_not(b.finish().value(), {.count = 2, .batch = BatchDim{0, 0}});
  EXPECT_THAT(why, HasSubstr("[reverse] it needs the whole batch at once, so"));
  EXPECT_THAT(why, Not(HasSubstr("permute")));
}

// A loop over layers that adds up gradients, from a start that counts once, and puts others in
// their places: (w, x) -> (sum of all, each).
Program loop_step() {
  Builder b("loop");
  b.function("main", {f32({4, 4}), f32({8, 4})}, [&](const Vars& in) -> Vars {
    const Var zero = b.full(Type::tensor(DType::i32, {}), 0);
    const Vars end = b.while_loop(
        {zero, in[1], in[0], b.full(f32({3, 4, 4}), 0)},
        [&](const Vars& now) { return b.compare("LT", now[0], b.full_like(now[0], 3)); },
        [&](const Vars& now) -> Vars {
          const Var x = b.op("tanh", {b.dot(now[1], in[0])});
          const Var gradient = b.dot(x, x, {{}, {}, {0}, {0}});
          const Var put = b.op("dynamic_update_slice",
                               {now[3], b.reshape(gradient, {1, 4, 4}), now[0], zero, zero});
          return {now[0] + 1.0, x, now[2] + gradient, put};
        });
    return {end[2], end[3]};
  });
  return b.finish().value();
}

TEST(MicroBatches, SumsComeOutOfLoops) {
  const Program program = loop_step();
  const MicroBatches cut =
      cut_into_micro_batches(program, {.count = 4, .batch = BatchDim{1, 0}}).value();
  EXPECT_EQ(ops_named(cut.program, "heddle.sum_over_micro_batches"), 2u);
  const Program loop = accumulated(cut.program, cut).value();
  const auto arguments = arguments_of(program);
  EXPECT_LT(apart(interpret(program, program.functions[0], arguments).value(),
                  interpret(loop, loop.functions[0], arguments).value()),
            1e-4);
}

TEST(MicroBatches, ALoopThatNeedsASumCannotBeCut) {
  Builder b("loop");
  b.function("main", {f32({4, 4}), f32({8, 4})}, [&](const Vars& in) -> Vars {
    const Vars end = b.while_loop(
        {b.full(Type::tensor(DType::i32, {}), 0), in[0]},
        [&](const Vars& now) { return b.compare("LT", now[0], b.full_like(now[0], 3)); },
        [&](const Vars& now) -> Vars {
          const Var x = b.dot(in[1], now[1]);
          return {now[0] + 1.0, b.op("tanh", {b.dot(x, in[1], {{}, {}, {0}, {0}})})};
        });
    return {end[1]};
  });
  EXPECT_THAT(why_not(b.finish().value(), {.count = 2, .batch = BatchDim{1, 0}}),
              HasSubstr("inside of a loop it needs a sum over the whole batch"));
}

// Both uses of a weight give a gradient; what the other stage has of it goes once in a step.
TEST(StagePrograms, GradientsOfASharedWeightTravelOnce) {
  Builder b("tied");
  b.function("main", {f32({5, 5}), f32({12, 5})}, [&](const Vars& in) -> Vars {
    const Var x = b.op("tanh", {b.dot(in[1], in[0])}), y = b.dot(x, in[0]);
    const Var last = b.dot(x, y, {{}, {}, {0}, {0}});
    const Var d = b.dot(y, in[0], {{}, {}, {1}, {1}}) * (1.0 - x * x);
    const Var first = b.dot(in[1], d, {{}, {}, {0}, {0}});
    return {b.reduce(y * y, {0, 1}, "add"), in[0] - (last + first)};
  });
  const std::vector<Carried> carried = {{0, 1}};
  const MicroBatches micro =
      cut_into_micro_batches(b.finish().value(), {.count = 4, .carried = carried}).value();
  PipelineShape shape;
  shape.stages = 2;
  shape.micro_batches = 4;
  const MicroBatches ordered = in_positions(micro, balanced_cut(micro, shape).value()).value();
  const StagePrograms made = stage_programs(ordered.program, ordered, shape, carried).value();
  constexpr std::int64_t kActivations = 3 * 5 * 4, kWeight = 5 * 5 * 4;  // bytes of a micro-batch
  for (const StageChannel& c : made.channels)
    EXPECT_TRUE(c.bytes == kWeight || c.bytes % (4 * kActivations) == 0) << c.bytes;
  EXPECT_THAT(made.arguments[0].stages, ElementsAre(0));
  EXPECT_EQ(made.stages.size(), 2u);
}

TEST(MicroBatches, WrongWords) {
  EXPECT_THAT(why_not(linear_step(), {.function = "other", .count = 2}), HasSubstr("@other"));
  EXPECT_THAT(why_not(linear_step(), {.count = 2, .batch = BatchDim{7, 0}}),
              HasSubstr("argument 7: @main has 3"));
  EXPECT_THAT(why_not(linear_step(), {.count = 2, .batch = BatchDim{1, 2}}),
              HasSubstr("dimension 2 of argument 1, which is tensor<8x4xf32>"));
  Builder b("scalars");
  b.function("main", {f32({})}, [&](const Vars& in) -> Vars { return {in[0] + 1.0}; });
  EXPECT_THAT(why_not(b.finish().value()), HasSubstr("no argument with a batch"));
}

TEST(MicroBatches, SharesOfDevicesHaveToBeEqual) {
  MicroBatches cut = cut_into_micro_batches(linear_step(), {.count = 4}).value();
  (void)cut.program.add_mesh("mesh", {{"x", 4}}).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.seeds = {argument(1, {{"x"}, {}})};
  const auto spmd = accumulated(partition(cut.program, options).value(), cut);
  ASSERT_FALSE(spmd.ok());
  EXPECT_THAT(spmd.reason(), HasSubstr("has 2 elements of its batch in a micro-batch, which 4"));
}

}  // namespace
}  // namespace heddle::test
