// LAPACK as library calls, for one device and dealt out by batches.
#include "compiled.h"
#include "heddle/target.h"

namespace heddle {
namespace {

const std::string kSteps = R"(
  func.func @main(%a: tensor<4x3x3xf32>, %b: tensor<4x3x2xf32>) -> (tensor<4x3x3xf32>, tensor<4xi32>, tensor<4x3x3xf32>, tensor<4x3x2xf32>, tensor<4x3xf32>) {
    %t = stablehlo.transpose %a, dims = [0, 2, 1] : (tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
    %p = stablehlo.dot_general %a, %t, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x3x3xf32>, tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
    %e = stablehlo.iota dim = 1 : tensor<4x3x3xi32>
    %f = stablehlo.iota dim = 2 : tensor<4x3x3xi32>
    %g = stablehlo.compare EQ, %e, %f : (tensor<4x3x3xi32>, tensor<4x3x3xi32>) -> tensor<4x3x3xi1>
    %h = stablehlo.convert %g : (tensor<4x3x3xi1>) -> tensor<4x3x3xf32>
    %s = stablehlo.add %p, %h : tensor<4x3x3xf32>
    %0:2 = "heddle.lapack"(%s) <{routine = "potrf", options = {uplo = 76 : ui8}}> : (tensor<4x3x3xf32>) -> (tensor<4x3x3xf32>, tensor<4xi32>)
    %1 = stablehlo.cholesky %s, lower = true : tensor<4x3x3xf32>
    %2 = "stablehlo.triangular_solve"(%1, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x3x3xf32>, tensor<4x3x2xf32>) -> tensor<4x3x2xf32>
    %3:3 = "heddle.lapack"(%s) <{routine = "syevd", options = {mode = 86 : ui8, uplo = 76 : ui8}}> : (tensor<4x3x3xf32>) -> (tensor<4x3x3xf32>, tensor<4x3xf32>, tensor<4xi32>)
    return %0#0, %0#1, %1, %2, %3#1 : tensor<4x3x3xf32>, tensor<4xi32>, tensor<4x3x3xf32>, tensor<4x3x2xf32>, tensor<4x3xf32>
  })";

void expect_close(const std::vector<Array>& got, const std::vector<Array>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].type(), wanted[i].type());
    for (std::int64_t k = 0; k < got[i].elements(); ++k)
      EXPECT_NEAR(to_double(got[i], k), to_double(wanted[i], k), 1e-3) << i << " " << k;
  }
}

TEST(CompiledLapack, RunsAsCalls) {
  const Program program = read(kSteps);
  const auto arguments = arguments_for(program);
  const auto wanted = interpret(program, *program.find_function("main"), arguments).value();
  const Executable executable = compiled(program);
  int calls = 0;
  for (const StepInfo& step : executable.steps())
    for (std::string_view name : {"potrf 3x3 f32, 4 times", "cholesky 3x3 f32, 4 times",
                                  "trsm 3x3 f32, 4 times", "syevd 3x3 f32, 4 times"})
      calls += step.name == name ? 1 : 0;
  EXPECT_EQ(calls, 4);
  expect_close(executable.run(arguments).value(), wanted);
}

// What is no factor of any matrix.
TEST(CompiledLapack, CholeskyOfWhatIsNotDefiniteIsNaN) {
  const Program program = read(R"(func.func @main(%a: tensor<2x2xf64>) -> tensor<2x2xf64> {
    %0 = stablehlo.cholesky %a, lower = true : tensor<2x2xf64>
    return %0 : tensor<2x2xf64>
  })");
  const std::vector<double> values{-1, 0, 0, 1};
  const auto got = compiled(program).run({make_array<double>({2, 2}, values)}).value();
  EXPECT_TRUE(std::isnan(to_double(got[0], 0)));
  EXPECT_EQ(to_double(got[0], 1), 0);
}

}  // namespace
}  // namespace heddle
