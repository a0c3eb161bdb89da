#include <gmock/gmock.h>

#include "heddle/inline.h"
#include "ir_build.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

Program inlined(Builder& b) {
  auto program = b.finish();
  if (!program) ADD_FAILURE() << program.reason();
  auto flat = inline_calls(*program);
  if (!flat) ADD_FAILURE() << flat.reason();
  return flat ? *flat : Program();
}

std::size_t count(const Program& program, std::string_view name) {
  std::size_t n = 0;
  for (OpId id = 0; id < program.op_count(); ++id) n += program.op(id).def->name == name;
  return n;
}

Array run(const Program& program, int x) {
  auto got = interpret(program, *program.find_function("main"), {ints32({}, {x})});
  if (!got) ADD_FAILURE() << got.reason();
  return got ? (*got)[0] : Array();
}

void add_square(Builder& b) {
  b.function("square", {i32()}, [](const Vars& in) -> Vars { return {in[0] * in[0]}; }, true);
}

TEST(Inline, CallsBecomeBodies) {
  Builder b;
  add_square(b);
  b.function(
      "fourth", {i32()}, [&](const Vars& in) { return b.call("square", b.call("square", in)); },
      true);
  b.function("main", {i32()}, [&](const Vars& in) -> Vars {
    return {b.call("fourth", in)[0] + b.call("square", in)[0]};
  });
  const Program flat = inlined(b);
  ASSERT_EQ(flat.functions.size(), 1u);
  EXPECT_EQ(count(flat, "func.call"), 0u);
  EXPECT_EQ(count(flat, "stablehlo.multiply"), 3u);
  EXPECT_EQ(run(flat, 3), ints32({}, {90}));
}

// JAX gives what lies in its own functions a name alone: their line is that of the call.
TEST(Inline, WhatHasNoLineHasThatOfItsCall) {
  Builder b;
  b.function(
      "inner", {i32()},
      [&](const Vars& in) -> Vars {
        b.at({.line = 1, .user = "neg"});
        const Var negated = -in[0];
        b.at({.line = 2, .user = "own.py:3"});
        return {negated + in[0]};
      },
      true);
  b.function(
      "outer", {i32()},
      [&](const Vars& in) {
        b.at({.line = 3, .user = "jit"});
        return b.call("inner", in);
      },
      true);
  b.function("main", {i32()}, [&](const Vars& in) -> Vars {
    b.at({.line = 4, .user = "model.py:57"});
    const Var first = b.call("outer", in)[0];
    b.at({.line = 5, .user = "model.py:58"});
    return b.call("outer", {first});
  });
  const Program flat = inlined(b);
  std::vector<std::string> lines;
  for (const OpId id : flat.region(flat.find_function("main")->body).ops)
    if (const Location& at = flat.location(flat.op(id).loc); flat.op(id).result_count > 0)
      lines.push_back(fmt::format("{} from {}", at.line, at.user));
  EXPECT_THAT(lines, ::testing::ElementsAre("1 from model.py:57", "2 from own.py:3",
                                            "1 from model.py:58", "2 from own.py:3"));
}

TEST(Inline, CallsInRegionsAndCompositesToo) {
  Builder b;
  add_square(b);
  b.function("main", {i32()}, [&](const Vars& in) {
    return b.while_loop(
        in, [&](const Vars& s) { return b.compare("LT", s[0], b.full(i32(), 100)); },
        [&](const Vars& s) -> Vars {
          return {b.op(
              "composite", {s[0]}, i32(),
              {{"name", Attr{std::string("my.square")}}, {"decomposition", symbol("square")}})};
        });
  });
  const Program flat = inlined(b);
  EXPECT_EQ(flat.functions.size(), 1u);
  EXPECT_EQ(count(flat, "stablehlo.composite"), 0u);
  EXPECT_EQ(run(flat, 2), ints32({}, {256}));
}

TEST(Inline, ArgumentsMayComeBackAsResults) {
  Builder b;
  b.function("swap", {i32(), i32()}, [](const Vars& in) -> Vars { return {in[1], in[0]}; }, true);
  b.function("main", {i32()}, [&](const Vars& in) -> Vars {
    const Vars once = b.call("swap", {in[0], b.full(i32(), 7)});
    return {b.call("swap", once)[1] - in[0]};
  });
  EXPECT_EQ(run(inlined(b), 3), ints32({}, {4}));
}

TEST(Inline, PublicFunctionsStay) {
  Builder b;
  b.function("helper", {i32()}, [](const Vars& in) { return in; });
  b.function("main", {i32()}, [&](const Vars& in) { return b.call("helper", in); });
  const Program flat = inlined(b);
  EXPECT_EQ(flat.functions.size(), 2u);
  EXPECT_EQ(count(flat, "func.call"), 0u);
}

TEST(Inline, FunctionsThatOtherOpsNameStay) {
  Builder b;
  add_square(b);
  b.function("main", {i32()}, [&](const Vars& in) -> Vars {
    return {b.op("custom_call", in, i32(),
                 {{"call_target_name", Attr{std::string("Sharding")}},
                  {"called_computations", Attr{Attr::List{symbol("square")}}}})};
  });
  EXPECT_NE(inlined(b).find_function("square"), nullptr);
}

TEST(Inline, OpsKeepTheirPlaces) {
  Builder b;
  b.program.file = "model.mlir";
  b.at(Location{3, 5, "model.py:57"});
  add_square(b);
  b.at(Location{9, 5, "model.py:80"});
  b.function("main", {i32()}, [&](const Vars& in) { return b.call("square", in); });
  const Program flat = inlined(b);
  const Op& multiply = flat.op(0);
  EXPECT_EQ(flat.where(multiply.loc), "model.mlir:3:5");
  EXPECT_EQ(flat.location(multiply.loc).user, "model.py:57");
  EXPECT_EQ(flat.where(flat.op(1).loc), "model.mlir:9:5");
}

// Each function calls the one before it twice.
Program doubling(int functions) {
  Builder b;
  b.function("f0", {i32()}, [](const Vars& in) -> Vars { return {-in[0]}; }, true);
  for (int i = 1; i < functions; ++i) {
    const std::string below = fmt::format("f{}", i - 1);
    b.function(
        fmt::format("f{}", i), {i32()},
        [&](const Vars& in) { return b.call(below, b.call(below, in)); }, i + 1 < functions);
  }
  return b.finish().value();
}

TEST(Inline, SizeIsBounded) {
  EXPECT_EQ(inline_calls(doubling(9), 767)->op_count(), 257u);
  EXPECT_FALSE(inline_calls(doubling(9), 766).ok());
  const auto flat = inline_calls(doubling(60), 1000);
  ASSERT_FALSE(flat.ok());
  EXPECT_THAT(flat.reason(), HasSubstr("the program grows beyond 1000 ops"));
}

TEST(Inline, EmptyFunctionsEndToo) {
  Builder b;
  b.function("f0", {i32()}, [](const Vars& in) { return in; }, true);
  for (int i = 1; i < 60; ++i) {
    const std::string below = fmt::format("f{}", i - 1);
    b.function(
        fmt::format("f{}", i), {i32()},
        [&](const Vars& in) { return b.call(below, b.call(below, in)); }, i < 59);
  }
  EXPECT_FALSE(inline_calls(b.finish().value(), 1000).ok());
}

TEST(Inline, DepthIsBounded) {
  Builder b;
  b.function("f0", {i32()}, [](const Vars& in) -> Vars { return {-in[0]}; }, true);
  for (int i = 1; i < 500; ++i)
    b.function(
        fmt::format("f{}", i), {i32()},
        [&](const Vars& in) { return b.call(fmt::format("f{}", i - 1), in); }, i < 499);
  const auto flat = inline_calls(b.finish().value());
  ASSERT_FALSE(flat.ok());
  EXPECT_THAT(flat.reason(), HasSubstr("nested more than 400 deep"));
}

TEST(Inline, CirclesAreRefusedByName) {
  TestProgram b;
  for (auto [from, to] : {std::pair{"main", "f"}, {"f", "g"}, {"g", "f"}}) {
    const RegionId body = b.begin(from);
    b.add(body, "func.call", {}, {}, {{"callee", symbol(to)}});
    b.end(body);
  }
  const std::string circle =
      "test.mlir:5:3: [call] functions call one another in a circle: @f -> @g -> @f; a program "
      "cannot recurse, stablehlo.while repeats";
  EXPECT_EQ(verify(b.program).reason(), circle);
  EXPECT_EQ(inline_calls(b.program).reason(), circle);
}

TEST(Inline, AFunctionMayNotCallItself) {
  TestProgram b;
  const RegionId body = b.begin("main");
  b.add(body, "stablehlo.composite", {}, {},
        {{"name", Attr{std::string("x.y")}}, {"decomposition", symbol("main")}});
  b.end(body);
  EXPECT_THAT(verify(b.program).reason(), HasSubstr("circle: @main -> @main"));
}

}  // namespace
}  // namespace heddle
