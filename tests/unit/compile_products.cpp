// Matrix products that read their operands, and write their results, where they lie.
#include <algorithm>
#include <limits>
#include <random>

#include "compiled.h"
#include "heddle/builder.h"
#include "ir/eval/scalar.h"

namespace heddle {
namespace {

std::size_t launches(const Executable& executable) {
  return static_cast<std::size_t>(std::ranges::count_if(
      executable.steps(), [](const StepInfo& step) { return step.kind == "kernel"; }));
}

bool copies(const Executable& executable) {
  return std::ranges::any_of(executable.steps(), [](const StepInfo& step) {
    return step.name.find("copied") != std::string::npos || step.kind == "copy";
  });
}

using Write = std::function<Vars(Builder&, const Vars&)>;

Program program_of(const std::vector<Shape>& shapes, const Write& write, DType dtype = DType::f32) {
  Builder b;
  std::vector<Type> types;
  for (const Shape& shape : shapes) types.push_back(Type::tensor(dtype, shape));
  b.function("main", types, [&](const Vars& in) -> Vars { return write(b, in); });
  return b.finish().value();
}

// Same results, products and nothing else.
void expect_products_only(const std::vector<Shape>& shapes, const Write& write) {
  const Program program = program_of(shapes, write);
  expect_same(program, arguments_for(program));
  const Executable executable = compiled(program);
  EXPECT_EQ(launches(executable), 0U);
  EXPECT_FALSE(copies(executable));
}

TEST(Products, TransposedOperands) {
  expect_products_only({{40, 30}, {40, 50}}, [](Builder& b, const Vars& in) -> Vars {
    return {b.dot(b.transpose(in[0], {1, 0}), in[1])};
  });
  // The order of its own dimensions changes, and with it that of the result.
  expect_products_only({{20, 24, 30}, {30, 50}}, [](Builder& b, const Vars& in) -> Vars {
    return {b.dot(b.transpose(in[0], {1, 0, 2}), in[1])};
  });
}

TEST(Products, SlicesOfOneTensor) {
  expect_products_only({{4, 32, 3, 2, 16}}, [](Builder& b, const Vars& in) -> Vars {
    const Var turned = b.transpose(in[0], {2, 0, 3, 1, 4});
    const auto part = [&](std::int64_t i) {
      return b.reshape(b.slice(turned, {i, 0, 0, 0, 0}, {i + 1, 4, 2, 32, 16}), {4, 2, 32, 16});
    };
    return {b.dot(part(0), part(2), {{0, 1}, {0, 1}, {3}, {3}})};
  });
  expect_products_only({{40, 90}, {30, 50}}, [](Builder& b, const Vars& in) -> Vars {
    return {b.dot(b.slice(in[0], {3, 10}, {35, 40}), in[1])};
  });
  // Every second row.
  expect_products_only({{80, 30}, {30, 50}}, [](Builder& b, const Vars& in) -> Vars {
    return {b.dot(b.slice(in[0], {1, 0}, {80, 30}, {2, 1}), in[1])};
  });
}

TEST(Products, HeadsThatShareKeys) {
  expect_products_only({{3, 4, 2, 20, 16}, {3, 4, 24, 16}}, [](Builder& b, const Vars& in) -> Vars {
    const Var keys = b.broadcast(in[1], {3, 4, 2, 24, 16}, {0, 1, 3, 4});
    return {b.dot(in[0], keys, {{0, 1, 2}, {0, 1, 2}, {4}, {4}})};
  });
}

TEST(Products, TransposedResults) {
  // As (A B)ᵀ = Bᵀ Aᵀ.
  expect_products_only({{40, 30}, {30, 50}}, [](Builder& b, const Vars& in) -> Vars {
    return {b.transpose(b.dot(in[0], in[1]), {1, 0})};
  });
  // Heads side by side.
  expect_products_only({{3, 4, 20, 24}, {3, 4, 24, 16}}, [](Builder& b, const Vars& in) -> Vars {
    const Var heads = b.dot(in[0], in[1], {{0, 1}, {0, 1}, {3}, {2}});
    return {b.reshape(b.transpose(heads, {0, 2, 1, 3}), {3, 20, 64})};
  });
}

// Moves that stay, because somebody else wants them or strides cannot say them.
TEST(Products, MovesThatStay) {
  const Write writes[] = {
      [](Builder& b, const Vars& in) -> Vars {
        const Var product = b.dot(in[0], in[1]);
        return {b.transpose(product, {1, 0}), product};
      },
      [](Builder& b, const Vars& in) -> Vars {
        const Var turned = b.transpose(in[0], {1, 0});
        return {b.dot(turned, in[1]), turned + 1.0};
      },
      [](Builder& b, const Vars& in) -> Vars {
        return {b.dot(b.broadcast(b.slice(in[0], {0, 0}, {1, 32}), {32, 32}, {0, 1}), in[1])};
      },
      [](Builder& b, const Vars& in) -> Vars {
        return {b.dot(b.slice(in[0], {0, 0}, {32, 32}, {1, 2}), b.slice(in[1], {0, 0}, {16, 32}))};
      },
      [](Builder& b, const Vars& in) -> Vars {
        const Var once = b.dot(in[0], in[1]);
        return {b.dot(b.transpose(once, {1, 0}), once)};
      },
      [](Builder& b, const Vars& in) -> Vars {
        const Var turned = b.transpose(b.dot(in[0], in[1]), {1, 0});
        return {turned * turned, b.dot(turned, in[0])};
      },
  };
  for (const Write& write : writes)
    for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::bf16}) {
      const Program program = program_of({{32, 32}, {32, 32}}, write, dtype);
      expect_same(program, arguments_for(program));
    }
}

// Operands that a loop changes under the product's eyes.
TEST(Products, ViewsInsideOfALoop) {
  const Program program = program_of({{24, 24}, {24, 24}}, [](Builder& b, const Vars& in) -> Vars {
    const Type count = Type::tensor(DType::i32, {});
    Vars start = {b.full(count, 0), in[0], in[1]};
    return b.while_loop(
        start, [&](const Vars& now) { return b.compare("LT", now[0], b.full(count, 3)); },
        [&](const Vars& now) -> Vars {
          const Var product = b.dot(b.transpose(now[1], {1, 0}), now[2]);
          const Var small = b.op("remainder", {product, b.full_like(product, 7)});
          return {now[0] + b.full(count, 1), b.transpose(small, {1, 0}), now[1]};
        });
  });
  expect_same(program, arguments_for(program));
}

std::size_t library_calls(const Executable& executable) {
  return static_cast<std::size_t>(std::ranges::count_if(
      executable.steps(), [](const StepInfo& step) { return step.kind == "library"; }));
}

// Forces between all pairs of bodies: x, mass.
Var forces(Builder& b, Var x, Var mass) {
  const std::int64_t n = x.type().shape[0], dims = x.type().shape[1];
  const Var apart = b.broadcast(x, {n, n, dims}, {1, 2}) - b.broadcast(x, {n, n, dims}, {0, 2});
  const Var weight = b.op("exponential", {-(b.reduce(apart * apart, {2}, "add") + 1.0)});
  const Var pull = b.dot(weight, mass, {{1}, {0}, {}, {}});
  return b.dot(apart, pull, {{0}, {1}, {1}, {0}});
}

TEST(Products, SmallOnesAreInsideOfKernels) {
  const Program program = program_of({{61, 3}, {61}}, [](Builder& b, const Vars& in) -> Vars {
    const Var moved = in[0] + 0.125 * forces(b, in[0], in[1]);
    return {moved, forces(b, moved, in[1])};
  });
  const Executable executable = compiled(program);
  EXPECT_EQ(library_calls(executable), 0U);
  // All positions have to be there before the second forces begin: two launches, or one block.
  EXPECT_LE(launches(executable), 2U);
  expect_same(program, arguments_for(program), {}, 4096);
}

// Rows of sums of all lengths around a vector, and sums that run over two loops.
TEST(Products, ShortRowsOfSums) {
  for (std::int64_t width : {1, 3, 5, 16, 17, 33, 64, 65}) {
    const Program program =
        program_of({{7, 9, 4}, {9, 4, width}}, [](Builder& b, const Vars& in) -> Vars {
          return {b.dot(in[0] * in[0], in[1], {{}, {}, {1, 2}, {0, 1}}) + 1.0};
        });
    expect_same(program, arguments_for(program));
  }
}

// Several rows in one loop are added to the same places.
TEST(Products, ShortRowsThatMeet) {
  for (const char* type : {"f32", "f64"})
    for (const char* width : {"4", "8", "16"})
      expect_same(fmt::format(
          R"(func.func @main(%a: tensor<2x3x{1}x{0}>, %b: tensor<2xi1>) -> tensor<{1}x{0}> {{
    %zero = stablehlo.constant dense<0.0> : tensor<{0}>
    %zeros = stablehlo.constant dense<0.0> : tensor<2x3x{1}x{0}>
    %chosen = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<2xi1>) -> tensor<2x3x{1}xi1>
    %x = stablehlo.select %chosen, %a, %zeros : tensor<2x3x{1}xi1>, tensor<2x3x{1}x{0}>
    %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] :
      (tensor<2x3x{1}x{0}>, tensor<{0}>) -> tensor<{1}x{0}>
    return %r : tensor<{1}x{0}>
  }})",
          type, width));
}

// LLVM takes a division whose divisor is chosen among constants with a zero for one that never is.
TEST(Products, DivisorsAmongConstants) {
  for (const char* op : {"divide", "remainder"})
    for (const char* type : {"i8", "ui8", "i32", "ui64"})
      expect_same(fmt::format(
          R"(func.func @main(%a: tensor<3x{0}>, %b: tensor<i1>) -> (tensor<3x{0}>, tensor<3x{0}>) {{
    %some = stablehlo.iota dim = 0 : tensor<3x{0}>
    %zeros = stablehlo.constant dense<0> : tensor<3x{0}>
    %c = stablehlo.select %b, %some, %zeros : tensor<i1>, tensor<3x{0}>
    %d = stablehlo.select %b, %zeros, %some : tensor<i1>, tensor<3x{0}>
    %x = stablehlo.{1} %a, %c : tensor<3x{0}>
    %y = stablehlo.{1} %a, %d : tensor<3x{0}>
    return %x, %y : tensor<3x{0}>, tensor<3x{0}>
  }})",
          type, op));
}

// Vectors of integers are divided as floats: of all sizes, next to multiples and to the ends.
TEST(Products, QuotientsOfAllSizes) {
  constexpr std::int64_t kCount = 4099;
  for (DType dtype : {DType::i8, DType::ui8, DType::i16, DType::ui16, DType::i32, DType::ui32,
                      DType::i64, DType::ui64}) {
    const Program program = program_of(
        {{kCount}, {kCount}, {}},
        [](Builder& b, const Vars& in) -> Vars {
          const Var number = b.broadcast(in[2], {kCount});
          return {b.op("divide", {in[0], in[1]}), b.op("remainder", {in[0], in[1]}),
                  b.op("divide", {in[0], number}), b.op("remainder", {in[0], number})};
        },
        dtype);
    std::mt19937_64 random(7);
    for (int round = 0; round < 8; ++round) {
      std::vector<Array> arguments;
      for (ValueId v : program.region(program.functions[0].body).args)
        arguments.emplace_back(program.type_of(v));
      dispatch(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T>) {
          const auto x = arguments[0].as_mutable<T>(), y = arguments[1].as_mutable<T>();
          const auto any = [&] {
            const auto bits = static_cast<T>(random() >> (random() % 64));
            return random() % 2 == 0
                       ? bits
                       : static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(bits));
          };
          for (std::size_t i = 0; i < kCount; ++i) {
            y[i] = i % 97 == 0 ? std::numeric_limits<T>::min() : any();
            x[i] = i % 89 == 0 ? std::numeric_limits<T>::min() : any();
            if (i % 3 == 0)  // a multiple, or one beside it
              x[i] = static_cast<T>(static_cast<std::uint64_t>(x[i]) *
                                        static_cast<std::uint64_t>(y[i]) +
                                    random() % 3 - 1);
          }
          arguments[2].as_mutable<T>()[0] = any();
        }
      });
      expect_same(program, arguments);
    }
  }
}

TEST(Products, WithoutASum) {
  for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::ui8, DType::bf16, DType::c64}) {
    const Program program = program_of(
        {{5, 40}, {40, 6}, {1, 5}},
        [](Builder& b, const Vars& in) -> Vars {
          return {b.dot(in[0], in[1], {{1}, {0}, {}, {}}), b.dot(in[0], in[2], {{}, {}, {}, {}}),
                  b.dot(b.reshape(in[0], {200, 1}), b.reshape(in[1], {1, 240}))};
        },
        dtype);
    expect_same(program, arguments_for(program));
  }
}

// The first of equal ones wins, whichever loop the vectors run along.
TEST(Products, ArgumentsOfExtremes) {
  expect_same(R"(func.func @main(%a: tensor<300x13xf32>) -> (tensor<300xf32>, tensor<300xi32>) {
    %i = stablehlo.iota dim = 1 : tensor<300x13xi32>
    %inf = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.reduce(%a init: %inf), (%i init: %zero) across dimensions = [1] :
      (tensor<300x13xf32>, tensor<300x13xi32>, tensor<f32>, tensor<i32>)
      -> (tensor<300xf32>, tensor<300xi32>)
     reducer(%x: tensor<f32>, %y: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
      %less = stablehlo.compare LE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = stablehlo.select %less, %x, %y : tensor<i1>, tensor<f32>
      %n = stablehlo.select %less, %j, %k : tensor<i1>, tensor<i32>
      stablehlo.return %v, %n : tensor<f32>, tensor<i32>
    }
    return %r#0, %r#1 : tensor<300xf32>, tensor<300xi32>
  })");
}

Var layer_norm(Builder& b, Var x, Var scale) {
  const Shape shape = x.type().shape;
  const auto mean = [&](Var of) {
    const Var sum = b.reduce(of, {2}, "add") / static_cast<double>(shape[2]);
    return b.broadcast(sum, shape, {0, 1});
  };
  const Var centred = x - mean(x);
  const Var inverse = b.op("rsqrt", {mean(centred * centred) + 1e-5});
  return centred * inverse * b.broadcast(scale, shape, {2});
}

Var softmax(Builder& b, Var x) {
  const Shape shape = x.type().shape;
  const Var top = b.broadcast(b.reduce(x, {3}, "maximum"), shape, {0, 1, 2});
  const Var e = b.op("exponential", {x - top});
  return e / b.broadcast(b.reduce(e, {3}, "add"), shape, {0, 1, 2});
}

// x, qkv, out, up, down, scale
Var transformer_block(Builder& b, const Vars& in) {
  const Shape shape = in[0].type().shape;
  const std::int64_t batch = shape[0], length = shape[1], width = shape[2], heads = 4;
  const Var qkv = b.reshape(b.dot(layer_norm(b, in[0], in[5]), in[1]),
                            {batch, length, 3, heads, width / heads});
  const Var turned = b.transpose(qkv, {2, 0, 3, 1, 4});
  const auto part = [&](std::int64_t i) {
    const Var one = b.slice(turned, {i, 0, 0, 0, 0}, {i + 1, batch, heads, length, width / heads});
    return b.reshape(one, {batch, heads, length, width / heads});
  };
  const Var keys = b.transpose(part(1), {0, 1, 3, 2});
  const Var scores = b.dot(part(0), keys, {{0, 1}, {0, 1}, {3}, {2}}) * 0.125;
  const Var mixed = b.dot(softmax(b, scores), part(2), {{0, 1}, {0, 1}, {3}, {2}});
  const Var side_by_side = b.reshape(b.transpose(mixed, {0, 2, 1, 3}), {batch, length, width});
  const Var attended = in[0] + b.dot(side_by_side, in[2]);
  const Var wide = b.dot(layer_norm(b, attended, in[5]), in[3]);
  const Var gelu = 0.5 * wide * (1.0 + b.op("tanh", {0.8 * (wide + 0.04 * wide * wide * wide)}));
  return attended + b.dot(gelu, in[4]);
}

TEST(Products, TransformerBlockIsFiveLaunchesAndSixProducts) {
  const Program program =
      program_of({{2, 32, 64}, {64, 192}, {64, 64}, {64, 256}, {256, 64}, {64}},
                 [](Builder& b, const Vars& in) -> Vars { return {transformer_block(b, in)}; });
  const Executable executable = compiled(program);
  EXPECT_EQ(launches(executable), 5U);
  EXPECT_EQ(executable.steps().size(), 11U);
  EXPECT_FALSE(copies(executable));
  // Whole numbers would make scores of hundreds, which rounding decides: libraries differ in that.
  std::vector<Array> arguments = arguments_for(program);
  for (Array& a : arguments)
    for (float& x : a.as_mutable<float>()) x /= 16;
  const auto wanted = interpret(program, *program.find_function("main"), arguments).value();
  for (int turn = 0; turn < 2; ++turn)
    expect_close(wanted, executable.run(arguments).value(), "a transformer block");
}

}  // namespace
}  // namespace heddle
