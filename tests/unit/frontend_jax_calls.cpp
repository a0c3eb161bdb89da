// Custom calls of JAX: approximate top_k, and callbacks into Python.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heddle/index_rule.h"
#include "heddle/interpreter.h"
#include "heddle/log.h"
#include "heddle/op.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"
#include "ir/attr_access.h"
#include "ir/eval/scalar.h"

namespace heddle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Reads a text, and keeps what is said meanwhile.
struct Read {
  std::string said;
  Program program;
  explicit Read(std::string_view text, const ReadOptions& options = {}) {
    LogSink before = set_log_sink([this](std::string_view message) { said += message; });
    auto read = read_stablehlo(text, "f.mlir", options);
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

// What is wrong with the program besides is said as ever.
TEST(JaxCalls, MistakesAroundThem) {
  const std::string text = approximate("GT", kConfig);
  auto with = [&](std::string_view from, std::string_view to) {
    std::string changed = text;
    return changed.replace(changed.find(from), from.size(), to);
  };
  EXPECT_THAT(read_stablehlo(with(", %arg3: tensor<i32>)", ")"), "f.mlir").reason(),
              HasSubstr("@comparator does not compare elements of tensor<2x5xf32>"));
  EXPECT_THAT(read_stablehlo(with("[@comparator]", "[@other]"), "f.mlir").reason(),
              HasSubstr("@ApproxTopK needs a comparator"));
  EXPECT_THAT(read_stablehlo(with("return %1#0, %1#1 : tensor<2x3xf32>, tensor<2x3xi32>",
                                  "return %1#0 : tensor<2x3xf32>"),
                             "f.mlir")
                  .reason(),
              HasSubstr("f.mlir:11:5"));
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

TEST(JaxCalls, QuestionsForShardingsAreLeftOut) {
  const Read read(R"(
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.custom_call @InspectSharding(%arg0) {backend_config = "key", has_side_effect = true} : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    return %1 : tensor<2xf32>
  })");
  EXPECT_THAT(read.said, HasSubstr("warning: f.mlir:3:10: jax.debug.inspect_array_sharding"));
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

// Who can call Python gets calls and tokens as they stand.
TEST(JaxCalls, CallbacksStayWhereTheyAreWanted) {
  const Read read(R"(
  func.func public @main(%arg0: !stablehlo.token {jax.token = true}, %arg1: tensor<2xf32>) -> (!stablehlo.token {jax.token = true}) {
    %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0, %arg1) {has_side_effect = true, mhlo.backend_config = {index = 3 : ui64}} : (!stablehlo.token, tensor<2xf32>) -> !stablehlo.token
    return %0 : !stablehlo.token
  })",
                  {.keep_callbacks = true});
  EXPECT_EQ(read.said, "");
  const Function& main = *read.program.find_function("main");
  // A token of its own in place of the caller's, and then the call.
  ASSERT_EQ(read.program.region(main.body).args.size(), 1U);
  ASSERT_EQ(read.program.region(main.body).ops.size(), 3U);
  const Op& call = read.program.op(read.program.region(main.body).ops[1]);
  EXPECT_EQ(text_or(read.program.attr(call, "call_target_name"), ""),
            "xla_ffi_python_cpu_callback");
  EXPECT_EQ(integer_or(field(read.program.attr(call, "mhlo.backend_config"), "index"), -1), 3);
  EXPECT_TRUE(flag_or(read.program.attr(call, "has_side_effect"), false));
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

// ---- LAPACK

std::string potrf(std::string_view target, std::string_view layout) {
  return fmt::format(
      R"(func.func public @main(%a: tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2xi32>) {{
    %0:2 = stablehlo.custom_call @{}(%a) {{backend_config = "", mhlo.backend_config = {{uplo = 76 : ui8}}, mhlo.frontend_attributes = {{num_batch_dims = "1"}}, operand_layouts = [dense<{}> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i]) {{i=2, j=2, k=2, l=2, m=2}}, custom>}} : (tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2xi32>)
    return %0#0, %0#1 : tensor<2x2x2xf32>, tensor<2xi32>
  }})",
      target, layout);
}

TEST(JaxCalls, LapackIsAnOp) {
  const Read read(potrf("lapack_spotrf_ffi", "[1, 2, 0]"));
  const Op& op = read.program.op(0);
  EXPECT_EQ(op.def->name, "heddle.lapack");
  EXPECT_EQ(index_rule(read.program, op).str(),
            "[a b c] -> [a d e] [a]; parallel a=2; whole b=2 c=2 d=2 e=2");
  const auto got = read.run({floats({2, 2, 2}, {4, 9, 2, 5, 9, 0, 3, 17})});
  EXPECT_THAT(values<float>(got[0]), ElementsAre(2, 9, 1, 2, 3, 0, 1, 4));  // uppers as they were
  EXPECT_THAT(values<std::int32_t>(got[1]), ElementsAre(0, 0));
  // What is printed reads back.
  const Read again(print_stablehlo(read.program));
  EXPECT_EQ(again.program.op(0).def->name, "heddle.lapack");
}

TEST(JaxCalls, LapackOfOtherElementsAndLayouts) {
  EXPECT_THAT(read_stablehlo(potrf("lapack_dpotrf_ffi", "[1, 2, 0]"), "f.mlir").reason(),
              HasSubstr("f.mlir:2:12: @lapack_dpotrf_ffi takes no tensor<2x2x2xf32>"));
  EXPECT_THAT(read_stablehlo(potrf("lapack_spotrf_ffi", "[2, 1, 0]"), "f.mlir").reason(),
              HasSubstr("operand_layouts 0 of @lapack_spotrf_ffi is [2, 1, 0], [1, 2, 0] was "
                        "expected"));
  EXPECT_THAT(read_stablehlo(potrf("lapack_sgetrf_ffi", "[1, 2, 0]"), "f.mlir").reason(),
              HasSubstr("getrf: 2 results came, 3 were expected"));
  // What is not known stays a call, which cannot be run.
  const Read other(potrf("lapack_spotrs_ffi", "[1, 2, 0]"));
  const auto run = interpret(other.program, other.program.functions[0],
                             {floats({2, 2, 2}, std::vector<float>(8))}, {});
  EXPECT_THAT(run.reason(), HasSubstr("@lapack_spotrs_ffi"));
}

TEST(JaxCalls, ReflectionsOfOtherPlatforms) {
  const Read read(R"(func.func public @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %0:2 = stablehlo.custom_call @Qr(%a) : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>)
    %1 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%0#0, %0#1) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  })");
  const auto q = values<float>(read.run({floats({2, 2}, {3, 1, 4, 2})})[0]);
  EXPECT_NEAR(q[0], -0.6, 1e-6);
  EXPECT_NEAR(q[2], -0.8, 1e-6);
}

// ---- composites

TEST(JaxCalls, CompositesThatAreOps) {
  const Read read(R"(module {
  func.func public @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xf32>, tensor<2xi32>, tensor<3xcomplex<f32>>) {
    %0 = stablehlo.composite "chlo.erf" %x {decomposition = @wrong, version = 1 : i32} : (tensor<3xf32>) -> tensor<3xf32>
    %1:2 = stablehlo.composite "chlo.top_k" %x {composite_attributes = {is_stable = true, k = 2 : i64}, decomposition = @wrong_too, version = 1 : i32} : (tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi32>)
    %2 = stablehlo.complex %x, %x : tensor<3xcomplex<f32>>
    %3 = stablehlo.composite "chlo.sinh" %2 {decomposition = @doubled} : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>
    return %0, %1#0, %1#1, %3 : tensor<3xf32>, tensor<2xf32>, tensor<2xi32>, tensor<3xcomplex<f32>>
  }
  func.func private @wrong(%x: tensor<3xf32>) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
  func.func private @wrong_too(%x: tensor<3xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
    %0 = stablehlo.constant dense<0.0> : tensor<2xf32>
    %1 = stablehlo.constant dense<0> : tensor<2xi32>
    return %0, %1 : tensor<2xf32>, tensor<2xi32>
  }
  func.func private @doubled(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
    %0 = stablehlo.add %x, %x : tensor<3xcomplex<f32>>
    return %0 : tensor<3xcomplex<f32>>
  }
})");
  const auto got = read.run({floats({3}, {0.5, 2, 1})});
  EXPECT_NEAR(values<float>(got[0])[0], std::erf(0.5), 1e-6);
  EXPECT_THAT(values<float>(got[1]), ElementsAre(2, 1));
  EXPECT_THAT(values<std::int32_t>(got[2]), ElementsAre(1, 2));
  EXPECT_EQ(got[3].as<C64>()[1], C64(4, 4));  // by its decomposition
}

}  // namespace
}  // namespace heddle
