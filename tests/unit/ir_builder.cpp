#include <gmock/gmock.h>

#include "ir_build.h"

namespace heddle {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Runs main() of what was built; the test fails where there is a mistake.
std::vector<Array> run_main(Builder& b, std::vector<Array> arguments = {}) {
  auto program = b.finish();
  if (!program) {
    ADD_FAILURE() << program.reason();
    return {Array()};
  }
  auto got = interpret(*program, *program->find_function("main"), std::move(arguments));
  if (!got) ADD_FAILURE() << got.reason();
  return got ? *got : std::vector<Array>{Array()};
}

std::string mistake(Builder& b) {
  auto program = b.finish();
  return program ? "" : program.reason();
}

// main() of one value, without arguments.
Array value_of(const std::function<Var(Builder&)>& write) {
  Builder b;
  b.function("main", {}, [&](const Vars&) -> Vars { return {write(b)}; });
  return run_main(b)[0];
}

TEST(Builder, WritesALayer) {
  Builder b("layer");
  b.function("main", {f32({2, 3}), f32({3, 2})}, [&](const Vars& in) -> Vars {
    const Var y = 2 * b.dot(in[0], in[1]) - 1;
    return {b.op("maximum", {y, b.full_like(y, 0)}), b.reduce(y, {0, 1}, "add")};
  });
  const auto got =
      run_main(b, {floats32({2, 3}, {1, 2, 3, 4, 5, 6}), floats32({3, 2}, {1, 0, 0, 1, -1, -1})});
  EXPECT_EQ(got[0], floats32({2, 2}, {0, 0, 0, 0}));
  EXPECT_EQ(got[1], floats32({}, {-16}));
}

// As docs/programs.md has it.
TEST(Builder, ExampleOfTheDocumentation) {
  Builder b("mlp");
  const Type x = Type::tensor(DType::f32, {8, 4}), w = Type::tensor(DType::f32, {4, 2});
  b.function("main", {x, w}, [&](const Vars& in) -> Vars {
    const Var y = b.dot(in[0], in[1]) * 0.5;
    return {b.op("maximum", {y, b.full_like(y, 0)}), b.reduce(y, {0, 1}, "add")};
  });
  Expected<Program> program = b.finish();
  ASSERT_TRUE(program.ok()) << program.reason();
  EXPECT_EQ(program->name, "mlp");
  EXPECT_EQ(program->type(program->functions[0].results[0]), f32({8, 2}));
}

TEST(Builder, InfersTypesFromTheRules) {
  Builder b;
  b.function("main", {f32({4}), f32({4})}, [&](const Vars& in) -> Vars {
    const Var less = b.compare("LT", in[0], in[1]);
    EXPECT_EQ(less.type(), Type::tensor(DType::i1, {4}));
    const Var z = b.op("complex", {in[0], in[1]});
    EXPECT_EQ(z.type(), Type::tensor(DType::c64, {4}));
    EXPECT_EQ(b.op("abs", {z}).type(), f32({4}));
    return {b.select(less, in[0], in[1])};
  });
  EXPECT_EQ(run_main(b, {floats32({4}, {1, 5, 2, 0}), floats32({4}, {2, 3, 2, 1})})[0],
            floats32({4}, {1, 3, 2, 0}));
}

TEST(Builder, MovesElements) {
  auto numbers = [](Builder& b) { return b.reshape(b.iota(i32({6}), 0), {2, 3}); };
  EXPECT_EQ(value_of([&](Builder& b) { return b.transpose(numbers(b), {1, 0}); }),
            ints32({3, 2}, {0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(value_of([&](Builder& b) { return b.slice(numbers(b), {0, 0}, {2, 3}, {1, 2}); }),
            ints32({2, 2}, {0, 2, 3, 5}));
  EXPECT_EQ(value_of([&](Builder& b) {
              const Var x = numbers(b);
              return b.concatenate({x, x}, 0);
            }),
            ints32({4, 3}, {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(value_of([&](Builder& b) { return b.broadcast(b.full(i32(), 7), {2}); }),
            ints32({2}, {7, 7}));
}

TEST(Builder, ReducesWithANamedCombiner) {
  auto reduced = [](std::string_view combiner, Array of) {
    return value_of([&](Builder& b) { return b.reduce(b.constant(of), {0}, combiner); });
  };
  const Array numbers = ints32({3}, {-4, 6, 3});
  EXPECT_EQ(reduced("add", numbers), ints32({}, {5}));
  EXPECT_EQ(reduced("multiply", numbers), ints32({}, {-72}));
  EXPECT_EQ(reduced("maximum", ints32({2}, {-4, -9})), ints32({}, {-4}));
  EXPECT_EQ(reduced("minimum", numbers), ints32({}, {-4}));
  EXPECT_EQ(reduced("and", ints32({2}, {6, 3})), ints32({}, {2}));
  EXPECT_EQ(reduced("or", ints32({2}, {4, 1})), ints32({}, {5}));
  EXPECT_EQ(reduced("and", make_array<std::uint8_t>(Shape{2}, {0xf0, 0x90})),
            make_array<std::uint8_t>(Shape{}, {0x90}));
  EXPECT_EQ(reduced("and", make_array<Bool>(Shape{2}, {Bool(true), Bool(true)})),
            scalar_array(Bool(true)));
}

TEST(Builder, LoopsBranchesAndCalls) {
  Builder b;
  b.function("next", {i32()}, [](const Vars& in) -> Vars { return {in[0] + 1}; }, true);
  b.function("main", {i32()}, [&](const Vars& in) -> Vars {
    const Vars end = b.while_loop(
        {in[0], b.full(i32(), 0)},
        [&](const Vars& s) { return b.compare("LT", s[0], b.full(i32(), 10)); },
        [&](const Vars& s) -> Vars { return {b.call("next", {s[0]})[0], s[1] + s[0]}; });
    return b.if_else(
        b.compare("GT", end[1], b.full(i32(), 40)), [&]() -> Vars { return {end[1]}; },
        [&]() -> Vars { return {-end[1]}; });
  });
  auto program = b.finish();
  ASSERT_TRUE(program.ok()) << program.reason();
  for (auto [from, to] : {std::pair{0, 45}, {5, -35}})
    EXPECT_EQ((*interpret(*program, *program->find_function("main"), {ints32({}, {from})}))[0],
              ints32({}, {to}));
}

TEST(Builder, KeepsTheFirstMistakeInTheVerifiersWords) {
  Builder b;
  b.program.file = "model.cpp";
  b.function("main", {f32({2}), f32({3})}, [&](const Vars& in) -> Vars {
    b.at(Location{7, 3, "model.py:57"});
    const Var wrong = in[0] + in[1];
    EXPECT_TRUE(wrong.none());
    b.at(Location{8, 3, ""});
    return {wrong * in[0]};
  });
  EXPECT_EQ(mistake(b),
            "model.cpp:7:3: [add] C1: operand 1 is tensor<3xf32>, but operand 0 is "
            "tensor<2xf32> (from model.py:57)");
}

TEST(Builder, LeavesTheRestToTheVerifier) {
  auto why = [](const std::function<Var(Builder&, Var)>& write) {
    Builder b;
    b.function("main", {f32({2, 3})}, [&](const Vars& in) -> Vars { return {write(b, in[0])}; });
    return mistake(b);
  };
  EXPECT_THAT(why([](Builder& b, Var x) { return b.transpose(x, {0, 2}); }),
              HasSubstr("[transpose] C2: permutation = [0, 2]"));
  EXPECT_THAT(why([](Builder& b, Var x) { return b.slice(x, {0, 0}, {2, 4}); }),
              HasSubstr("[slice] C"));
  EXPECT_THAT(why([](Builder& b, Var x) { return b.reduce(x, {2}, "add"); }),
              HasSubstr("[reduce] C"));
  EXPECT_THAT(why([](Builder& b, Var x) { return b.dot(x, x); }), HasSubstr("[dot_general] C"));
  EXPECT_THAT(why([](Builder& b, Var x) { return b.concatenate({x, x}, -1); }),
              HasSubstr("[concatenate] C4"));
}

TEST(Builder, SaysWhatItCannotInfer) {
  for (std::string_view name : {"convert", "reshape", "bitcast_convert"}) {
    Builder b;
    b.function("main", {f32({2})}, [&](const Vars& in) -> Vars { return {b.op(name, in)}; });
    EXPECT_THAT(mistake(b), AllOf(HasSubstr("does not follow from its operands"), HasSubstr(name)));
  }
}

TEST(Builder, RefusesWhatIsNotThere) {
  Builder b;
  b.function("main", {f32()}, [&](const Vars& in) -> Vars { return {b.op("adder", in)}; });
  EXPECT_EQ(mistake(b), "program: [adder] there is no such op; `heddle ops` lists all");
  (void)b.full(f32(), 1);
  EXPECT_THAT(mistake(b), HasSubstr("outside a function"));
  b.function("main", {f32()}, [&](const Vars& in) -> Vars { return b.call("f", in); });
  EXPECT_THAT(mistake(b), HasSubstr("there is no function @f yet"));
  b.function("main", {}, [&](const Vars&) -> Vars { return {Var()}; });
  EXPECT_THAT(mistake(b), HasSubstr("operand 0 is no value"));
  Builder other;
  Var foreign;
  other.function("main", {f32()}, [&](const Vars& in) { return foreign = in[0], in; });
  b.function("main", {}, [&](const Vars&) -> Vars { return {b.op("negate", {foreign})}; });
  EXPECT_THAT(mistake(b), HasSubstr("belongs to another builder"));
  b.function("main", {f32({2})},
             [&](const Vars& in) -> Vars { return {b.reduce(in[0], {0}, "subtract")}; });
  EXPECT_THAT(mistake(b), HasSubstr("there is no combiner subtract of tensor<2xf32>"));
}

}  // namespace
}  // namespace heddle
