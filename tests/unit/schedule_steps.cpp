// Steps of a schedule: what they make of a program, and why they are refused.
#include <gmock/gmock.h>

#include "heddle/schedule_text.h"
#include "heddle/stablehlo.h"
#include "spmd_mesh.h"

namespace heddle::schedule_steps_tests {
namespace {

using test::argument;
using test::f32;
using test::ramp;
using test::result;
using testing::HasSubstr;

// Dealt out, and not in any order yet.
Spmd dealt(Program program, const AxisSizes& mesh, std::vector<Seed> seeds) {
  (void)program.add_mesh("mesh", mesh).value();
  SpmdOptions options;
  options.mesh = "mesh";
  options.seeds = std::move(seeds);
  return partition(program, options).value();
}

// A step of training: a gradient that is summed over dp, momentum and the parameter.
struct Training {
  Program program;
  Spmd spmd;
};
Training training(std::int64_t devices, std::int64_t rows, const AxisSizes& mesh = {}) {
  Builder b("training");
  const Type x = f32({4 * devices, rows}), y = f32({4 * devices, 6}), w = f32({rows, 6});
  b.function("main", {x, y, w, w}, [&](const Vars& in) -> Vars {
    const Var g = b.dot(in[0], in[1], DotDims{{}, {}, {0}, {0}});
    const Var old = in[3] * 0.5;
    const Var m = old + g * 0.5;
    return {in[2] - m * 0.125, m};
  });
  Program program = b.finish().value();
  Spmd spmd = dealt(program, mesh.empty() ? AxisSizes{{"dp", devices}} : mesh,
                    {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}, {}}), argument(2, {{}, {}}),
                     argument(3, {{}, {}}), result(0, {{}, {}}), result(1, {{}, {}})});
  return {std::move(program), std::move(spmd)};
}

std::map<std::string, int> kinds(const Spmd& spmd) {
  std::map<std::string, int> all;
  for (const ScheduleValue& v : schedule_values(spmd.program, spmd.program.functions[0]))
    ++all[v.name.substr(0, v.name.find('.'))];
  return all;
}

std::vector<StepTaken> take(Spmd& spmd, std::string_view text) {
  auto taken = apply_schedule(spmd, "main", parse_schedule(text, "s").value());
  EXPECT_TRUE(taken) << (taken ? "" : taken.reason());
  return taken ? *taken : std::vector<StepTaken>{};
}

// Why it is refused; empty where it is not.
std::string refused(Spmd spmd, std::string_view text, const std::vector<Carried>& carried = {}) {
  const auto taken = apply_schedule(spmd, "main", parse_schedule(text, "s").value(), carried);
  return taken ? "" : taken.reason();
}

void expect_same(const Program& program, Spmd spmd) {
  EXPECT_LT(test::difference(program, spmd), 1e-3);
  spmd.program = schedule(spmd.program);
  EXPECT_LT(test::difference(program, spmd), 1e-3);
}

TEST(Steps, AMomentumStepOnSlices) {
  for (const std::int64_t devices : {2, 3, 4, 8})
    for (const std::int64_t rows : {24, 7}) {
      Training t = training(devices, rows);
      take(t.spmd, R"(
        rs, ag = split all_reduce.0 along 0
        new = reorder * under ag
        as_slice arg3 result1
        overlap dot_general.0 rs in 3
      )");
      std::map<std::string, int> now = kinds(t.spmd);
      EXPECT_EQ(now["all_reduce"], 0);
      EXPECT_EQ(now["reduce_scatter"], 3);
      EXPECT_EQ(now["all_gather"], 1);
      const std::int64_t part = (rows + devices - 1) / devices;
      EXPECT_EQ(local_type(f32({rows, 6}), t.spmd.functions[0].arguments[3]), f32({part, 6}));
      EXPECT_EQ(t.spmd.functions[0].results[1], t.spmd.functions[0].arguments[3]);
      expect_same(t.program, t.spmd);
    }
}

// What is carried lies in slices on both sides or on none: the parameter is needed as a whole.
TEST(Steps, AllThatCanLieInSlices) {
  for (const bool carried : {false, true}) {
    Training t = training(2, 8);
    const std::vector<Carried> pairs = {{2, 0}, {3, 1}};
    const auto taken = apply_schedule(
        t.spmd, "main",
        parse_schedule("rs, ag = split all_reduce.0\nreorder add.0 under ag\nas_slice *", "s")
            .value(),
        carried ? pairs : std::vector<Carried>{});
    ASSERT_TRUE(taken) << taken.reason();
    const SpmdFunction& f = t.spmd.functions[0];
    EXPECT_FALSE(f.arguments[3].is_whole());
    EXPECT_EQ(f.arguments[3], f.results[1]);
    EXPECT_TRUE(f.arguments[2].is_whole());
    EXPECT_TRUE(f.results[0].is_whole());
    expect_same(t.program, t.spmd);
  }
}

TEST(Steps, ASumByWayOfOneDevice) {
  Training t = training(4, 6);
  take(t.spmd, "r, b = split all_reduce.0 to one\noverlap r b in 2 along 1");
  EXPECT_EQ(kinds(t.spmd)["collective_reduce"], 2);
  expect_same(t.program, t.spmd);
}

TEST(Steps, OnlyTheNamedOpsMove) {
  Training t = training(2, 8);
  const auto taken = take(t.spmd, "rs, ag = split all_reduce.0\na = reorder add.0 under ag");
  EXPECT_THAT(taken.at(1).said.at(0), HasSubstr("2 ops on slices"));
  EXPECT_EQ(kinds(t.spmd)["all_gather"], 1);
  expect_same(t.program, t.spmd);
}

// LAMB's norm: a sum over what is sliced is that of a slice, and an all_reduce of one number.
TEST(Steps, NormsAreSummedFromSlices) {
  for (const std::int64_t rows : {8, 7}) {
    Builder b("norm");
    const Type x = f32({8, rows}), w = f32({rows});
    b.function("main", {x, w}, [&](const Vars& in) -> Vars {
      const Var g = b.reduce(in[0], {0}, "add");
      const Var norm = b.reduce(g * g, {0}, "add");
      return {in[1] - g * b.broadcast(norm, {rows}), b.reduce(g, {0}, "maximum")};
    });
    const Program program = b.finish().value();
    Spmd spmd =
        dealt(program, {{"dp", 4}},
              {argument(0, {{"dp"}, {}}), argument(1, {{}}), result(0, {{}}), result(1, {})});
    take(spmd, "rs, ag = split all_reduce.0\nreorder * under ag");
    EXPECT_EQ(kinds(spmd)["all_reduce"], 2);  // of one number each
    expect_same(program, spmd);
  }
}

// The gradient is scaled before it is summed, as it is linear; and behind it, on slices.
TEST(Steps, AScaleGoesPastTheSum) {
  for (const std::int64_t rows : {8, 7}) {
    Training t = training(2, rows);
    const std::string split = "rs, ag = split all_reduce.0 along 1\n";
    take(t.spmd,
         split + "sum, scaled = reorder multiply.1 past rs\noverlap dot_general.0 sum in 2");
    EXPECT_EQ(kinds(t.spmd)["reduce_scatter"], 2);
    expect_same(t.program, t.spmd);
  }
}

// Two values that travel at once; behind them is what needs them.
TEST(Steps, FusedCollectives) {
  Builder b("two");
  const Type x = f32({8, 4});
  b.function("main", {x}, [&](const Vars& in) -> Vars {
    const Var first = b.reduce(in[0], {0}, "add");
    const Var other = b.reduce(in[0] * in[0], {0}, "add");
    return {b.op("tanh", {first}), other};
  });
  const Program program = b.finish().value();
  Spmd spmd =
      dealt(program, {{"dp", 2}}, {argument(0, {{"dp"}, {}}), result(0, {{}}), result(1, {{}})});
  EXPECT_THAT(refused(spmd, "fuse all_reduce.0 tanh.0"), HasSubstr("is no collective"));
  take(spmd, "both = fuse all_reduce.0 all_reduce.1");
  EXPECT_EQ(kinds(spmd)["all_reduce"], 1);
  expect_same(program, spmd);
}

// Marked for the runtime, and otherwise as it was.
TEST(Steps, WhatIsBetweenGoesIntoTheCollective) {
  Training t = training(2, 6);
  const auto taken = take(t.spmd,
                          "rs, ag = split all_reduce.0\nnew = reorder * under ag\n"
                          "s, g = fuse rs result0 in 3 by ring");
  EXPECT_THAT(taken.back().said[0],
              HasSubstr("one collective, ring, with what is computed on the slice inside of it, in "
                        "3 chunks"));
  EXPECT_EQ(taken.back().step, "s, g = fuse rs result0 in 3 by ring");
  expect_same(t.program, t.spmd);
  EXPECT_FALSE(parse_schedule("fuse rs ag by boat", "s").ok());
  Training any = training(2, 6);
  take(any.spmd, "rs, ag = split all_reduce.0\nreorder * under ag\nfuse rs *");
  expect_same(any.program, any.spmd);
}

// The second sum is made of the first one.
TEST(Steps, CollectivesThatNeedEachOtherStayApart) {
  Builder b("after");
  const Type x = f32({8, 4});
  b.function("main", {x}, [&](const Vars& in) -> Vars {
    const Var first = b.op("tanh", {b.reduce(in[0], {0}, "add")});
    return {b.op("tanh", {b.reduce(in[0] * b.broadcast(first, {8, 4}, {1}), {0}, "add")})};
  });
  const Spmd spmd =
      dealt(b.finish().value(), {{"dp", 2}}, {argument(0, {{"dp"}, {}}), result(0, {{}})});
  EXPECT_THAT(refused(spmd, "fuse all_reduce.0 all_reduce.1"),
              HasSubstr("they would wait for each other"));
}

// Rows of a gathered value times a matrix: every chunk of rows is gathered by itself.
TEST(Steps, GatheredRowsAreMultipliedInChunks) {
  for (const std::int64_t devices : {2, 3}) {
    Builder b("rows");
    b.function("main", {f32({6 * devices, 8}), f32({8, 4})},
               [&](const Vars& in) -> Vars { return {b.dot(in[0], in[1])}; });
    const Program program = b.finish().value();
    Spmd spmd = dealt(program, {{"dp", devices}},
                      {argument(0, {{"dp"}, {}}), argument(1, {{}, {}}), result(0, {{}, {}})});
    const bool gathers_first =
        schedule_values(spmd.program, spmd.program.functions[0])[0].name == "all_gather.0";
    const std::string line =
        gathers_first ? "all_gather.0 dot_general.0" : "dot_general.0 all_gather.0";
    take(spmd, "overlap " + line + " in 4");
    EXPECT_EQ(kinds(spmd)["all_gather"], 4);
    expect_same(program, spmd);
  }
}

// ---- why not

// Products at both ends of a layer whose inner dimension lies over tp, rows over tp outside of it.
Program layer() {
  Builder b("layer");
  b.function("main", {f32({8, 6}), f32({6, 12}), f32({12, 6})},
             [&](const Vars& in) -> Vars { return {b.dot(b.dot(in[0], in[1]), in[2])}; });
  return b.finish().value();
}
Spmd dealt_layer(const Program& program) {
  return dealt(program, {{"tp", 2}},
               {argument(0, {{"tp"}, {}}), argument(1, {{}, {"tp"}}), argument(2, {{"tp"}, {}}),
                result(0, {{"tp"}, {}})});
}

TEST(Steps, ProductsGoIntoCollectives) {
  const Program program = layer();
  for (const char* text : {"fuse dot_general.1 reduce_scatter.0 in 2",
                           "fuse all_gather.0 dot_general.0 by ring through latency lanes 2"}) {
    Spmd spmd = dealt_layer(program);
    const auto taken = take(spmd, text);
    EXPECT_THAT(taken[0].said[0], HasSubstr("one collective"));
    EXPECT_EQ(text_of(parse_schedule(taken[0].step, "s").value()), taken[0].step + "\n");
    expect_same(program, std::move(spmd));
  }
}

// The second product of such a layer, whose sum all devices have.
Program summed(std::int64_t rows) {
  Builder b("summed");
  b.function("main", {f32({rows, 24}), f32({24, 6})},
             [&](const Vars& in) -> Vars { return {b.op("tanh", {b.dot(in[0], in[1])})}; });
  return b.finish().value();
}
Spmd dealt_summed(const Program& program, std::int64_t devices) {
  return dealt(program, {{"tp", devices}},
               {argument(0, {{}, {"tp"}}), argument(1, {{"tp"}, {}}), result(0, {{}, {}})});
}

// Rows that are no multiple of the devices: the product makes the room behind them.
TEST(Steps, ProductsOfRaggedRowsGoIntoCollectives) {
  for (const std::int64_t devices : {2, 3, 4}) {
    const Program program = summed(7);
    Spmd spmd = dealt_summed(program, devices);
    take(spmd, "rs, ag = split all_reduce.0 along 0\nreorder * under ag\nfuse dot_general.0 rs *");
    EXPECT_EQ(kinds(spmd)["reduce_scatter"], 1);
    expect_same(program, std::move(spmd));
  }
}

TEST(Steps, ProductsThatStayOutside) {
  const Spmd sum = dealt_summed(summed(6), 2);
  const std::string split = "rs, ag = split all_reduce.0\n";
  const std::pair<std::string, std::string> cases[] = {
      {split + "fuse rs dot_general.0", "the last product takes what nobody gathers"},
      {split + "fuse dot_general.0 ag", "goes into a reduce_scatter of its sums, or an all_gather"},
      {"fuse dot_general.0 tanh.0", "does not fit there: fuse takes a product"},
      {"fuse dot_general.0 all_reduce.0", "all_reduce : tensor<6x6xf32> does not fit there"},
      {split + "fuse dot_general.0 rs\nfuse dot_general.0 rs", "is fused already"},
      {split + "fuse dot_general.0 rs\noverlap dot_general.0 rs in 2", "fused"},
  };
  for (const auto& [text, why] : cases) EXPECT_THAT(refused(sum, text), HasSubstr(why)) << text;
  for (const auto& [text, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"fuse rs ag through air", "there is no protocol `air`: direct, bandwidth or latency"},
           {"fuse rs ag lanes 0", "a rank has 1 to 64 lanes, not 0"},
           {"fuse rs ag by star", "there is no algorithm `star`: direct, ring or tree"}}) {
    const auto parsed = parse_schedule(text, "s");
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.reason(), HasSubstr(why));
  }
  // A weight whose rows are gathered is summed over: no row of the result is done before the last.
  Builder b("weights");
  b.function("main", {f32({4, 8}), f32({8, 6})},
             [&](const Vars& in) -> Vars { return {b.dot(in[0], in[1])}; });
  const Spmd spmd = dealt(b.finish().value(), {{"dp", 2}},
                          {argument(0, {{}, {}}), argument(1, {{"dp"}, {}}), result(0, {{}, {}})});
  if (kinds(spmd).contains("all_gather")) {
    EXPECT_THAT(refused(spmd, "fuse all_gather.0 dot_general.0"), HasSubstr("sums over what is"));
  }
}

TEST(Steps, WhatIsRefused) {
  const Training t = training(2, 6);
  const std::string split = "rs, ag = split all_reduce.0\n";
  const std::pair<std::string, std::string> cases[] = {
      {"split dot_general.0", "dot_general is no all_reduce"},
      {"split all_reduce.0 along 5", "it has no dimension 5"},
      {"split all_reduce.1", "there is no all_reduce.1: the program of a device has all_reduce.0"},
      {"split all_reduse.0", "has no all_reduse; did you mean `all_reduce`?"},
      {"split arg7", "there is no arg7: the function has 4 arguments"},
      {"split arg0", "argument 0 is not made by an op"},
      {split + "reorder dot_general.0 under ag", "does not come behind the all_gather"},
      {split + "reorder * under rs", "reduce_scatter is no all_gather"},
      {split + "reorder dot_general.0 past rs", "does not go to the reduce_scatter alone"},
      {split + "sum, scaled = reorder multiply.1 past rs\nreorder dot_general.0 past sum",
       "2 of its operands differ"},
      {"as_slice arg3", "needs more of it than the device's own slice"},
      {"as_slice result1", "is not gathered of slices"},
      {"as_slice all_reduce.0", "only arguments and results"},
      {"dead dot_general.0", "multiply : tensor<6x6xf32> needs it"},
      {"dead subtract.0", "it is a result of the function"},
      {"fuse all_reduce.0", "there is nothing to fuse it with"},
      {split + "fuse rs ag", "nothing is computed between them: an all_reduce does the same"},
      {split + "fuse ag rs", "are not of one kind"},
      {split + "fuse rs", "all_gather : tensor<6x6xf32> uses the sum, and is not pointwise"},
      {split + "fuse rs subtract.0",
       "does not fit there: fuse takes a product, a reduce_scatter, an all_gather"},
      {"rs, ag = split all_reduce.0 along 1\nreorder * under ag\nfuse rs result0",
       "is cut along dimension 1, so that slices do not lie in one piece: split along 0"},
      {split + "reorder * under ag\nfuse rs result0\nfuse rs result0", "is fused already"},
      {"fuse all_reduce.0 all_reduce.0 in 2", "for what goes inside of a collective"},
      {"overlap dot_general.0 dot_general.0 in 2", "there is no collective among them"},
      {"overlap all_reduce.0 subtract.0 in 2", "so that there is no one line"},
      {"overlap dot_general.0 all_reduce.0 in 100", "fewer than 100 elements"},
      {split + split, "all_gather is no all_reduce"},
      {"a, b, c = split all_reduce.0", "it makes 2 values, and there are 3 names"},
      {"dead ag", "nothing is called `ag`"},
  };
  for (const auto& [text, why] : cases) EXPECT_THAT(refused(t.spmd, text), HasSubstr(why)) << text;
  EXPECT_THAT(refused(t.spmd, split + "reorder * under ag\nas_slice arg3", {{3, 1}}),
              HasSubstr("as_slice must be taken for both"));
}

// An operand that differs from device to device cannot be sliced for the others.
TEST(Steps, ALocalOperandStaysWithItsDevice) {
  Builder b("local");
  const Type x = f32({8, 6});
  b.function("main", {x, x}, [&](const Vars& in) -> Vars {
    const Var g = b.broadcast(b.reduce(in[0], {0}, "add"), {8, 6}, {1});
    return {in[1] * g};
  });
  Spmd spmd =
      dealt(b.finish().value(), {{"dp", 2}},
            {argument(0, {{"dp"}, {}}), argument(1, {{"dp"}, {}}), result(0, {{"dp"}, {}})});
  const std::string split = "rs, ag = split all_reduce.0\n";
  EXPECT_THAT(refused(spmd, split + "reorder broadcast_in_dim.0 multiply.0 under ag"),
              HasSubstr("argument 1 is local: it differs along dp"));
}

TEST(Steps, WhatNeedsAWholeDimensionStays) {
  Builder b("whole");
  const Type x = f32({8, 6});
  b.function("main", {x}, [&](const Vars& in) -> Vars {
    const Var g = b.reduce(in[0], {0}, "add");
    return {b.op("reverse", {b.op("tanh", {g})}, {{"dimensions", Attr{Attr::Integers{0}}}})};
  });
  Spmd spmd = dealt(b.finish().value(), {{"dp", 2}}, {argument(0, {{"dp"}, {}}), result(0, {{}})});
  EXPECT_THAT(refused(spmd, "rs, ag = split all_reduce.0\nreorder tanh.0 reverse.0 under ag"),
              HasSubstr("reverse: "));
}

// ---- the text

TEST(ScheduleText, IsReadAsItIsPrinted) {
  const std::string text =
      "rs, ag = split all_reduce.0 along 1\nr, b = split all_reduce.1 to one\n"
      "new = reorder add.1 sub.2 under ag\nx = reorder multiply.0 past rs\nas_slice arg1 result1\n"
      "dead ag\nall = fuse rs r\noverlap dot_general.0 rs in 4 along 0\n";
  const DeviceSchedule schedule = parse_schedule("# a comment\n\n" + text, "s").value();
  EXPECT_EQ(text_of(schedule), text);
  EXPECT_EQ(parse_schedule(text_of(schedule), "again").value(), schedule);
}

TEST(ScheduleText, SaysWhatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"splitt all_reduce.0", "f:1: there is no step `splitt`; steps are split V"},
      {"\n\n1a = split x", "f:3: `1a` is no name"},
      {"= split x", "there is no name before ="},
      {"a =", "there is no step behind ="},
      {"split", "it names no value"},
      {"split x along", "there is no number behind `along`"},
      {"split x along -1", "takes a number from 0"},
      {"split x in 4", "`in` does not fit there"},
      {"split x to one along 1", "split to one has no dimension"},
      {"reorder x", "reorder names no collective"},
      {"reorder x y past rs", "takes one value"},
      {"overlap x in 2", "overlap takes two values"},
      {"overlap x y", "in how many chunks"},
  };
  for (const auto& [text, why] : cases) {
    const auto schedule = parse_schedule(text, "f");
    ASSERT_FALSE(schedule) << text;
    EXPECT_THAT(schedule.reason(), HasSubstr(why)) << text;
  }
}

}  // namespace
}  // namespace heddle::schedule_steps_tests
