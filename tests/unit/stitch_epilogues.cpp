// Products that go on with what follows them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "heddle/builder.h"
#include "heddle/interpreter.h"
#include "heddle/op.h"
#include "heddle/stitch.h"
#include "ir/eval/scalar.h"
#include "ir/product_then.h"
#include "stitch/activation.h"

namespace heddle::epilogue_tests {
namespace {

// Products are calls that can go on with anything, but for what a test leaves out.
class Calls final : public DeviceCalls {
 public:
  bool has_call(const OpDef&) const override { return true; }
  bool prefers_call(const Program&, const Op& op) const override {
    return op.def->call == DeviceCall::product;
  }
  bool takes_views(const Program&, const Op& op) const override {
    return op.def->call == DeviceCall::product || op.def->call == DeviceCall::product_then;
  }
  bool can_go_on(const Program&, const Op&, const ProductThen& then) const override {
    return (functions || then.function == ProductThen::Function::none) && (keeps || !then.keeps);
  }
  bool functions = true, keeps = true;
};

using Write = std::function<Vars(Builder&, const Vars&)>;

Program program_of(const std::vector<Shape>& shapes, const Write& write, DType dtype = DType::f32) {
  Builder b;
  std::vector<Type> types;
  for (const Shape& shape : shapes) types.push_back(Type::tensor(dtype, shape));
  b.function("main", types, [&](const Vars& in) -> Vars { return write(b, in); });
  return b.finish().value();
}

std::vector<Array> run(const Program& program) {
  std::mt19937 random(7);
  std::vector<Array> arguments;
  for (ValueId v : program.region(program.functions[0].body).args) {
    Array array(program.type_of(v));
    dispatch(array.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (T& x : array.template as_mutable<T>())
        x = convert_scalar<T>((static_cast<int>(random() % 17) - 8) / 8.0);
    });
    arguments.push_back(array);
  }
  return interpret(program, program.functions[0], arguments).value();
}

void expect_near(const Program& made, const Program& program) {
  const auto got = run(made), wanted = run(program);
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t r = 0; r < got.size(); ++r)
    dispatch(got[r].dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const double share = std::is_same_v<T, float> ? 1e-6 : 2e-2;
      for (std::size_t i = 0; i < got[r].as<T>().size(); ++i) {
        const auto x = convert_scalar<double>(got[r].as<T>()[i]);
        const auto y = convert_scalar<double>(wanted[r].as<T>()[i]);
        EXPECT_NEAR(x, y, share * std::max(1.0, std::abs(y))) << r << ", " << i;
      }
    });
}

// What the calls of the program do, in its order.
std::vector<std::string> goes_on(const Program& program) {
  std::vector<std::string> all;
  for (OpId id : program.region(program.functions[0].body).ops)
    if (program.op(id).def->call == DeviceCall::product_then)
      all.push_back(words_of(product_then(program, program.op(id))));
  return all;
}

void expect_that(const Program& program, const std::vector<std::string>& words,
                 const Calls& calls = {}) {
  const Program made = with_epilogues(program, calls).value();
  EXPECT_EQ(goes_on(made), words);
  expect_near(made, program);
}

Var row(Builder& b, Var x, const Var& like) {
  const Shape& shape = like.type().shape;
  return b.broadcast(x, shape, {static_cast<std::int64_t>(shape.size()) - 1});
}

Var gelu(Builder& b, Var x) {
  const Var inside = (x + x * x * x * 0.044715) * 0.7978845608;
  return x * (b.op("tanh", {inside}) + 1.0) * 0.5;
}

Var relu(Builder& b, Var x) { return b.op("maximum", {x, b.full_like(x, 0)}); }

TEST(Epilogues, ABiasBeforeAnotherProduct) {
  const Program program =
      program_of({{2, 4, 8}, {8, 16}, {16}, {16, 8}}, [](Builder& b, const Vars& in) -> Vars {
        const Var x = b.dot(in[0], in[1], {{}, {}, {2}, {0}});
        return {b.dot(x + row(b, in[2], x), in[3], {{}, {}, {2}, {0}})};
      });
  expect_that(program, {"bias"});
}

TEST(Epilogues, KernelsHaveTheProductAtHandAnyway) {
  const Program program =
      program_of({{4, 8}, {8, 16}, {16}, {16, 8}}, [](Builder& b, const Vars& in) -> Vars {
        const Var x = b.dot(in[0], in[1]);
        return {b.dot(b.op("exponential", {x + row(b, in[2], x)}), in[3])};
      });
  expect_that(program, {});
}

TEST(Epilogues, ResultsOfTheProgramLieInMemory) {
  expect_that(program_of({{4, 8}, {8, 16}, {16}},
                         [](Builder& b, const Vars& in) -> Vars {
                           const Var x = b.dot(in[0], in[1]);
                           return {relu(b, row(b, in[2], x) + x)};
                         }),
              {"bias relu"});
}

// The mask of its gradient is had from the result as well.
TEST(Epilogues, AReluAndItsMask) {
  const Program program =
      program_of({{4, 8}, {8, 16}, {16}, {16, 8}, {4, 16}}, [](Builder& b, const Vars& in) -> Vars {
        const Var x = b.dot(in[0], in[1]);
        const Var before = x + row(b, in[2], x);
        const Var mask = b.compare("GT", before, b.full_like(before, 0));
        return {b.dot(relu(b, before), in[3]), b.op("select", {mask, in[4], b.full_like(x, 0)})};
      });
  expect_that(program, {"bias relu"});
}

// Another comparison would see zeros where there were none.
TEST(Epilogues, AReluWhoseOperandIsNeeded) {
  const Program program =
      program_of({{4, 8}, {8, 16}, {16, 8}, {4, 16}}, [](Builder& b, const Vars& in) -> Vars {
        const Var x = b.dot(in[0], in[1]);
        const Var mask = b.compare("GE", x, b.full_like(x, 0));
        return {b.dot(relu(b, x), in[2]), b.op("select", {mask, in[3], b.full_like(x, 0)})};
      });
  expect_that(program, {});
}

TEST(Epilogues, AGelu) {
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    const Program program = program_of(
        {{4, 8}, {8, 16}, {16}, {16, 8}},
        [](Builder& b, const Vars& in) -> Vars {
          const Var x = b.dot(in[0], in[1]);
          return {b.dot(gelu(b, x + row(b, in[2], x)), in[3])};
        },
        type);
    expect_that(program, {"bias gelu"});
    Calls without;
    without.functions = false;
    expect_that(program, {}, without);
  }
}

// A gradient wants what the GELU is of, and a part of it.
TEST(Epilogues, AGeluThatKeepsItsOperand) {
  const Program program =
      program_of({{4, 8}, {8, 16}, {16}, {16, 8}}, [](Builder& b, const Vars& in) -> Vars {
        const Var x = b.dot(in[0], in[1]);
        const Var before = x + row(b, in[2], x);
        const Var tanh = b.op("tanh", {(before + before * before * before * 0.044715) * 0.7978846});
        return {b.dot(before * (tanh + 1.0) * 0.5, in[3]), before - tanh * tanh};
      });
  expect_that(program, {"bias gelu kept"});
  Calls without;
  without.keeps = false;
  expect_that(program, {}, without);
}

// The gradient as JAX writes it, with what the forward pass has of it.
Var gelu_gradient(Builder& b, Var x, Var dy, double cube = 0.044715) {
  const Var t = b.op("tanh", {(x + x * x * x * cube) * 0.7978845608});
  const Var by_factor = dy * ((t + 1.0) * 0.5);
  const Var of_tanh = x * dy * 0.5;
  const Var inside = (of_tanh + of_tanh * t) * (1.0 - t) * 0.7978845608;
  return by_factor + inside + x * x * 3.0 * (inside * cube);
}

// A layer with its gradients: x w, GELU, times v; and back.
Program layer_and_back(const std::function<Vars(Builder&, const Vars&, Var, Var)>& results) {
  return program_of({{4, 8}, {8, 16}, {16, 8}, {4, 8}}, [&](Builder& b, const Vars& in) -> Vars {
    const Var x = b.dot(in[0], in[1]);
    const Var y = b.dot(gelu(b, x), in[2]);
    const Var dy = b.dot(in[3], in[2], {{}, {}, {1}, {1}});
    Vars all = results(b, in, x, dy);
    all.push_back(y);
    return all;
  });
}

TEST(Epilogues, TheGradientOfAGelu) {
  const auto with = [](double cube, bool sums) {
    return layer_and_back([=](Builder& b, const Vars& in, Var x, Var dy) -> Vars {
      const Var dx = gelu_gradient(b, x, dy, cube);
      Vars all{b.dot(in[0], dx, {{}, {}, {0}, {0}}), b.dot(dx, in[1], {{}, {}, {1}, {1}})};
      if (sums) all.push_back(b.reduce(dx, {0}, "add"));
      return all;
    });
  };
  expect_that(with(0.044715, false), {"gelu kept", "gelu_gradient"});
  expect_that(with(0.044715, true), {"gelu kept"});  // a kernel has to read it anyway
  expect_that(with(0.05, false), {"gelu kept"});     // of some other function
}

TEST(Epilogues, OtherConstantsAreNoGelu) {
  expect_that(program_of({{4, 8}, {8, 16}, {16, 8}},
                         [](Builder& b, const Vars& in) -> Vars {
                           const Var x = b.dot(in[0], in[1]);
                           const Var inside = (x + x * x * x * 0.05) * 0.7978845608;
                           return {b.dot(x * (b.op("tanh", {inside}) + 1.0) * 0.5, in[2])};
                         }),
              {});
}

// A gradient that is added to what there was before.
TEST(Epilogues, AMatrixThatIsAdded) {
  expect_that(
      program_of({{4, 8}, {8, 16}, {4, 16}},
                 [](Builder& b, const Vars& in) -> Vars { return {in[2] + b.dot(in[0], in[1])}; }),
      {"add"});
}

TEST(Epilogues, ABiasAndAMatrixAndAFunction) {
  for (const bool with_relu : {false, true}) {
    const Program program =
        program_of({{4, 8}, {8, 16}, {16}, {4, 16}}, [&](Builder& b, const Vars& in) -> Vars {
          const Var x = b.dot(in[0], in[1]);
          const Var sum = (x + row(b, in[2], x)) + in[3];
          return {with_relu ? relu(b, sum) : sum};
        });
    expect_that(program, {with_relu ? "bias add relu" : "bias add"});
  }
}

// Two of them, one behind the other.
TEST(Epilogues, ABiasAndTwoRelus) {
  const Program program =
      program_of({{4, 8}, {8, 16}, {16}}, [](Builder& b, const Vars& in) -> Vars {
        const Var x = b.dot(in[0], in[1]);
        const Var before = x + row(b, in[2], x);
        return {relu(b, before), b.op("negate", {b.op("maximum", {b.full_like(x, 0), before})})};
      });
  expect_that(program, {"bias relu"});
}

TEST(Epilogues, TheSumOfTwoProductsIsPartOfOne) {
  expect_that(program_of({{4, 8}, {8, 16}, {4, 8}, {8, 16}},
                         [](Builder& b, const Vars& in) -> Vars {
                           return {b.dot(in[0], in[1]) + b.dot(in[2], in[3])};
                         }),
              {"add"});
}

TEST(Epilogues, AProductThatOthersReadStays) {
  expect_that(program_of({{4, 8}, {8, 16}, {16}},
                         [](Builder& b, const Vars& in) -> Vars {
                           const Var x = b.dot(in[0], in[1]);
                           return {x + row(b, in[2], x), b.op("negate", {x})};
                         }),
              {});
}

// A column of numbers that goes along the first dimension is no bias.
TEST(Epilogues, AColumnIsNoBias) {
  const Program program =
      program_of({{16, 8}, {8, 16}, {16}}, [](Builder& b, const Vars& in) -> Vars {
        const Var x = b.dot(in[0], in[1]);
        return {x + b.broadcast(in[2], x.type().shape, {0})};
      });
  expect_that(program, {});
}

// Where a digit decides something every op rounds by itself.
TEST(Epilogues, WhatDecidesStays) {
  const Program program = program_of(
      {{4, 8}, {8, 16}, {16}},
      [](Builder& b, const Vars& in) -> Vars {
        const Var x = b.dot(in[0], in[1]);
        const Var y = x + row(b, in[2], x);
        return {y, b.op("floor", {y})};
      },
      DType::bf16);
  expect_that(program, {});
}

}  // namespace
}  // namespace heddle::epilogue_tests
