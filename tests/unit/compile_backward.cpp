// What backward passes have in common: values that are had again, gradients the way round that they
// are read, sums of narrow floats, and one element of each row.
#include <gtest/gtest.h>

#include "compiled.h"
#include "heddle/builder.h"
#include "stitch/fold_moves.h"

namespace heddle::backward_tests {
namespace {

constexpr std::int64_t kSide = 256;
constexpr std::int64_t kSquare = kSide * kSide * 4;  // bytes
const Shape kShape = {kSide, kSide};
const Type kMatrix = Type::tensor(DType::f32, kShape);

TEST(HadAgain, WhatFollowsFromAProductIsNotKeptForLater) {
  Builder b;
  b.function("main", {kMatrix, kMatrix, Type::tensor(DType::f32, {kSide})},
             [&](const Vars& in) -> Vars {
               const Var less = b.dot(in[0], in[1]) - b.broadcast(in[2], kShape, {1});
               const Var next = b.dot(b.op("maximum", {less, b.full_like(less, 0)}), in[1]);
               return {next * less};
             });
  const Program program = b.finish().value();
  expect_same(program, arguments_for(program));
  std::vector<std::int64_t> written;
  const Executable executable = compiled(program);
  for (const StepInfo& step : executable.steps())
    if (step.kind == "kernel") written.push_back(step.bytes_written);
  EXPECT_EQ(written, (std::vector<std::int64_t>{kSquare, kSquare}));
}

TEST(HadAgain, WhatTakesLongIsKept) {
  Builder b;
  b.function("main", {kMatrix, kMatrix}, [&](const Vars& in) -> Vars {
    Var x = b.dot(in[0], in[1]);
    for (int i = 0; i < 4; ++i) x = b.op("tanh", {x});
    return {b.dot(b.op("negate", {x}), in[1]) * x};
  });
  const Executable executable = compiled(b.finish().value());
  std::int64_t written = 0;
  for (const StepInfo& step : executable.steps())
    if (step.kind == "kernel") written += step.bytes_written;
  EXPECT_EQ(written, 3 * kSquare);  // both of the first kernel, and the result
}

// A weight of 300 by 500 whose gradient a product gives as 500 by 300.
Program update(bool with_the_gradient_as_it_is) {
  Builder b;
  const auto type = [](Shape shape) { return Type::tensor(DType::f32, std::move(shape)); };
  b.function("main", {type({400, 300}), type({400, 500}), type({300, 500})},
             [&](const Vars& in) -> Vars {
               const Var gradient = b.dot(in[1], in[0], {{}, {}, {0}, {0}});
               Vars out = {in[2] - b.transpose(gradient, {1, 0}) * 0.5};
               if (with_the_gradient_as_it_is) out.push_back(gradient * 2.0);
               return out;
             });
  return b.finish().value();
}

TEST(Crosswise, AProductWritesAGradientAsTheWeightLies) {
  for (const bool both : {false, true}) {
    const Program program = update(both);
    expect_same(program, arguments_for(program));
    const auto moves = fold_moves(program, program.functions[0].body, *find_device("cpu").value());
    ASSERT_EQ(moves.products.size(), both ? 0u : 1u);
    if (both) continue;  // somebody wants it as it is
    const ValueId written = moves.products.begin()->second.result.value;
    EXPECT_EQ(program.type_of(written).shape, Shape({300, 500}));
  }
}

TEST(NarrowSums, AreTakenInF32) {
  for (const char* type : {"bf16", "f16"}) {
    const std::string text = std::string("func.func @main(%x: tensor<1024x3x") + type +
                             ">) -> tensor<3x" + type +
                             "> {\n%z = stablehlo.constant dense<0.0> : tensor<" + type +
                             ">\n%s = stablehlo.reduce(%x init: %z) applies stablehlo.add across "
                             "dimensions = [0] : (tensor<1024x3x" +
                             type + ">, tensor<" + type + ">) -> tensor<3x" + type +
                             ">\nreturn %s : tensor<3x" + type + ">\n}";
    const Program program = read(text);
    const Type wide = Type::tensor(DType::f32, {1024, 3});
    Array ones(wide);
    for (float& x : ones.as_mutable<float>()) x = 1;
    const DType narrow = program.type_of(program.region(program.functions[0].body).args[0]).dtype;
    const auto sums = compiled(program).run({converted(ones, narrow)}).value();
    const Array wide_sums = converted(sums[0], DType::f32);
    for (float sum : wide_sums.as<float>()) EXPECT_EQ(sum, 1024) << type;
  }
}

TEST(OneUpdate, OfEachRowIsComparedWithThePositions) {
  const Program program = read(R"(
    func.func @main(%i: tensor<2x3x1x1xi32>, %u: tensor<2x3x1xf32>) -> tensor<2x3x5xf32> {
      %z = stablehlo.constant dense<0.0> : tensor<2x3x5xf32>
      %0 = "stablehlo.scatter"(%z, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %c : tensor<f32>
      }) : (tensor<2x3x5xf32>, tensor<2x3x1x1xi32>, tensor<2x3x1xf32>) -> tensor<2x3x5xf32>
      return %0 : tensor<2x3x5xf32>
    })");
  Array places(Type::tensor(DType::i32, {2, 3, 1, 1}));
  const std::int32_t numbers[] = {0, 4, -1, 5, 2, 2};  // two of them point nowhere
  std::ranges::copy(numbers, places.as_mutable<std::int32_t>().begin());
  expect_same(program, {places, small_numbers(Type::tensor(DType::f32, {2, 3, 1}))});
  const Executable executable = compiled(program);
  ASSERT_EQ(executable.steps().size(), 1u);
  EXPECT_EQ(executable.steps()[0].ops.find("scatter"), std::string::npos);
}

}  // namespace
}  // namespace heddle::backward_tests
