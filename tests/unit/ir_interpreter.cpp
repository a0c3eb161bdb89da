#include <gmock/gmock.h>

#include "heddle/builder.h"
#include "heddle/trace.h"
#include "ir_build.h"

namespace heddle {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Interpreter, RunsOpsInOrder) {
  TestProgram b;
  const RegionId main = b.begin("main", {f32({2})});
  const ValueId x = b.arg(main, 0);
  const ValueId y = b.add(main, "stablehlo.add", {x, x}, {f32({2})})[0];
  b.end(main, {b.add(main, "stablehlo.add", {y, x}, {f32({2})})[0], x});
  auto got = b.run("main", {floats32({2}, {1, 2})});
  ASSERT_TRUE(got.ok()) << got.reason();
  EXPECT_EQ((*got)[0], floats32({2}, {3, 6}));
  EXPECT_EQ((*got)[1], floats32({2}, {1, 2}));
}

TEST(Interpreter, RefusesWrongArguments) {
  TestProgram b;
  const RegionId main = b.begin("main", {f32({2})});
  b.end(main, {b.arg(main, 0)});
  EXPECT_THAT(b.why("main"), HasSubstr("takes 1 arguments, 0 came in"));
  EXPECT_THAT(b.why("main", {ints32({2}, {1, 2})}), HasSubstr("is tensor<2xf32>, tensor<2xi32>"));
}

TEST(Interpreter, NamesTheFunctionsOfACircle) {
  TestProgram b;
  for (auto [from, to] : {std::pair{"f", "g"}, {"g", "f"}}) {
    const RegionId body = b.begin(from);
    b.add(body, "func.call", {}, {}, {{"callee", symbol(to)}});
    b.end(body);
  }
  EXPECT_THAT(b.why("f"), HasSubstr("in a circle: @f -> @g -> @f"));
}

TEST(Interpreter, StopsAtTheMemoryLimit) {
  TestProgram b;
  const RegionId main = b.begin("main", {f32({100})});
  b.add(main, "stablehlo.add", {b.arg(main, 0), b.arg(main, 0)}, {f32({100})});
  b.end(main);
  const std::vector<Array> input{Array(f32({100}))};
  EXPECT_EQ(b.why("main", input, {.memory_limit = 800}), "");
  EXPECT_THAT(b.why("main", input, {.memory_limit = 799}),
              AllOf(StartsWith("test.mlir:1:3: [add] memory:"), HasSubstr("the limit is 799")));
}

TEST(Interpreter, FreesValuesAfterTheirLastUse) {
  TestProgram b;
  const RegionId main = b.begin("main", {f32({100})});
  ValueId x = b.arg(main, 0);
  for (int i = 0; i < 50; ++i) x = b.add(main, "stablehlo.negate", {x}, {f32({100})})[0];
  b.end(main, {x});
  EXPECT_EQ(b.why("main", {Array(f32({100}))}, {.memory_limit = 800}), "");
}

TEST(Interpreter, HugeSplatsTakeNoMemoryUntilTheyAreUsed) {
  TestProgram b;
  const RegionId main = b.begin("main");
  const Type huge = f32({1 << 20, 1 << 20});
  const float one = 1;
  const ValueId c = b.constant(main, Array::splat(huge, std::as_bytes(std::span(&one, 1))));
  b.add(main, "stablehlo.sine", {c}, {huge});
  b.end(main);
  EXPECT_THAT(b.why("main"), HasSubstr("[sine] memory:"));
}

// Every op of the table but those that end a region.
TEST(Interpreter, CanRunEveryOp) {
  for (const OpDef& def : op_table())
    EXPECT_EQ(def.evaluate == nullptr, def.form == Form::terminator) << def.name;
}

// A call, the function in it, and a reduction whose body runs four times: none of those is a span.
TEST(Interpreter, TracesFunctionsAndOpsButNotEveryElement) {
  Builder b;
  b.function("sum", {f32({4})},
             [&](const Vars& in) -> Vars { return {b.reduce(in[0], {0}, "add")}; });
  b.function("main", {f32({4})}, [&](const Vars& in) { return b.call("sum", in); });
  const Program program = b.finish().value();
  TraceRecorder trace;
  ASSERT_TRUE(interpret(program, *program.find_function("main"), {floats32({4}, {1, 2, 3, 4})},
                        {.trace = &trace})
                  .ok());
  const std::string json = trace.json();
  for (const char* name : {"@main", "@sum", "func.call", "stablehlo.constant", "stablehlo.reduce"})
    EXPECT_THAT(json, HasSubstr(fmt::format("\"name\":\"{}\"", name)));
  EXPECT_EQ(trace.size(), 5U) << json;
}

// Every level calls the next one.
TEST(Interpreter, DeepCallsAreAReason) {
  TestProgram b;
  for (int i = 0; i < 1000; ++i) {
    const RegionId body = b.begin("f" + std::to_string(i));
    if (i < 999)
      b.add(body, "func.call", {}, {}, {{"callee", symbol("f" + std::to_string(i + 1))}});
    b.end(body);
  }
  EXPECT_THAT(b.why("f0"), HasSubstr("run more than 400 deep inside one another: @f0 -> @f1 -> @f2 "
                                     "-> (395 more) -> @f398 -> @f399 -> @f400"));
  EXPECT_EQ(b.why("f700"), "");
}

}  // namespace
}  // namespace heddle
