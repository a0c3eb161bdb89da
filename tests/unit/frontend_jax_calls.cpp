// Custom calls of JAX: approximate top_k, and callbacks into Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/interpreter.h"
#include "heddle/log.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"
#include "ir/eval/scalar.h"

namespace heddle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Reads a text, and keeps what is said meanwhile.
struct Read {
  std::string said;
  Program program;
  explicit Read(std::string_view text) {
    LogSink before = set_log_sink([this](std::string_view message) { said += message; });
    auto read = read_stablehlo(text, "f.mlir");
    (void)set_log_sink(std::move(before));
    program = std::move(read).value();
    (void)verify(program).value();
  }
  std::vector<Array> run(std::vector<Array> arguments) const {
    return interpret(program, *program.find_function("main"), std::move(arguments)).value();
  }
};

template <typename T>
std::vector<T> values(const Array& array) {
  const auto all = array.as<T>();
  return {all.begin(), all.end()};
}

Array floats(Shape shape, const std::vector<float>& values) {
  return make_array<float>(std::move(shape), values);
}

std::string approximate(std::string_view compare, std::string_view config) {
  return fmt::format(R"(module @jit_f {{
  func.func @comparator(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i1> {{
    %0 = stablehlo.compare {}, %arg0, %arg1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }}
  func.func public @main(%arg0: tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {{
    %0 = stablehlo.iota dim = 1 : tensor<2x5xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1:2 = stablehlo.custom_call @ApproxTopK(%arg0, %0, %cst, %c) {{backend_config = "", called_computations = [@comparator], mhlo.backend_config = {{{}}}}} : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    return %1#0, %1#1 : tensor<2x3xf32>, tensor<2x3xi32>
  }}
}})",
                     compare, config);
}

constexpr std::string_view kConfig =
    "aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32, "
    "reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64";

TEST(JaxCalls, ApproximateTopKIsExact) {
  const Array x = floats({2, 5}, {1, 5, 2, 5, 3, -1, -2, -3, -4, 0});
  const Read largest(approximate("GT", kConfig));
  EXPECT_EQ(largest.said, "");
  const auto most = largest.run({x});
  EXPECT_THAT(values<float>(most[0]), ElementsAre(5, 5, 3, 0, -1, -2));
  EXPECT_THAT(values<std::int32_t>(most[1]), ElementsAre(1, 3, 4, 4, 0, 1));
  EXPECT_EQ(largest.program.find_function("comparator"), nullptr);
  const auto least = Read(approximate("LT", kConfig)).run({x});
  EXPECT_THAT(values<float>(least[0]), ElementsAre(1, 2, 3, -4, -3, -2));
  EXPECT_THAT(values<std::int32_t>(least[1]), ElementsAre(0, 2, 4, 3, 2, 1));
}

TEST(JaxCalls, ApproximateTopKAlongNoDimension) {
  EXPECT_THAT(read_stablehlo(approximate("GT", "top_k = 3 : i64"), "f.mlir").reason(),
              HasSubstr("f.mlir:10:12: @ApproxTopK reduces dimension -1 of tensor<2x5xf32>"));
}

TEST(JaxCalls, CallbacksWithoutResultsAreLeftOut) {
  const Read read(R"(module @jit_f {
  sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0) {has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}, sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<2xf32>) -> ()
    %0 = func.call @inner(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @inner(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.custom_call @xla_python_cpu_callback(%arg0) {has_side_effect = true} : (tensor<2xf32>) -> !stablehlo.token
    %1 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %1 : tensor<2xf32>
  }
})");
  EXPECT_THAT(read.said, HasSubstr("warning: f.mlir:4:5: left out 2 calls into Python "
                                   "(jax.debug.print"));
  EXPECT_EQ(std::ranges::count(read.said, '\n'), 1);
  EXPECT_TRUE(read.program.meshes.empty());
  EXPECT_THAT(values<float>(read.run({floats({2}, {1, 2})})[0]), ElementsAre(2, 4));
}

// The tokens that keep callbacks in order are JAX's own: nobody passes them.
TEST(JaxCalls, OrderedCallbacksTakeNoTokens) {
  const Read read(R"(
  func.func public @main(%arg0: !stablehlo.token {jax.token = true}, %arg1: tensor<2xf32> {jax.arg_info = "x"}) -> (!stablehlo.token {jax.token = true}, tensor<2xf32> {jax.result_info = "y"}) {
    %2 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0, %arg1) {has_side_effect = true} : (!stablehlo.token, tensor<2xf32>) -> !stablehlo.token
    %4 = stablehlo.add %arg1, %arg1 : tensor<2xf32>
    return %2, %4 : !stablehlo.token, tensor<2xf32>
  })");
  EXPECT_THAT(read.said, HasSubstr("f.mlir:3:10: left out a call into Python"));
  const Function& main = *read.program.find_function("main");
  ASSERT_EQ(read.program.region(main.body).args.size(), 1U);
  EXPECT_EQ(main.arg_attrs.size(), 1U);
  EXPECT_EQ(main.results.size(), 1U);
  EXPECT_THAT(values<float>(read.run({floats({2}, {1, 2})})[0]), ElementsAre(2, 4));
}

// What such a call gives is not known.
TEST(JaxCalls, CallbacksWithResultsAreRefused) {
  const Read read(R"(func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  })");
  EXPECT_EQ(read.said, "");
  const auto run = interpret(read.program, read.program.functions[0], {floats({2}, {1, 2})}, {});
  EXPECT_THAT(run.reason(), HasSubstr("calls back into Python (jax.pure_callback"));
}

}  // namespace
}  // namespace heddle
