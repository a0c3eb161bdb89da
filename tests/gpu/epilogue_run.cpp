// Products that go on with a bias, a matrix, ReLU or GELU in cuBLASLt's call.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "gpu_device.h"
#include "heddle/compile.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"
#include "ir/eval/scalar.h"

namespace heddle::epilogue_tests {
namespace {

struct Case {
  const char* type;
  const char* words;  // of the call
  const char* body;   // from %y, the product, to %z; %b is the bias, %c a matrix
};

class GpuEpilogue : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  }
};

constexpr const char* kBias = R"(
      %r = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<192xTYPE>) -> tensor<256x192xTYPE>
      %z = stablehlo.add %y, %r : tensor<256x192xTYPE>)";
constexpr const char* kAdd = R"(
      %z = stablehlo.add %c, %y : tensor<256x192xTYPE>)";
constexpr const char* kRelu = R"(
      %r = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<192xTYPE>) -> tensor<256x192xTYPE>
      %s = stablehlo.add %y, %r : tensor<256x192xTYPE>
      %zero = stablehlo.constant dense<0.0> : tensor<256x192xTYPE>
      %z = stablehlo.maximum %s, %zero : tensor<256x192xTYPE>)";
constexpr const char* kGelu = R"(
      %r = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<192xTYPE>) -> tensor<256x192xTYPE>
      %s = stablehlo.add %y, %r : tensor<256x192xTYPE>
      %k0 = stablehlo.constant dense<0.044715> : tensor<256x192xTYPE>
      %k1 = stablehlo.constant dense<0.79788456> : tensor<256x192xTYPE>
      %k2 = stablehlo.constant dense<1.0> : tensor<256x192xTYPE>
      %k3 = stablehlo.constant dense<0.5> : tensor<256x192xTYPE>
      %g0 = stablehlo.multiply %s, %s : tensor<256x192xTYPE>
      %g1 = stablehlo.multiply %g0, %s : tensor<256x192xTYPE>
      %g2 = stablehlo.multiply %k0, %g1 : tensor<256x192xTYPE>
      %g3 = stablehlo.add %s, %g2 : tensor<256x192xTYPE>
      %g4 = stablehlo.multiply %k1, %g3 : tensor<256x192xTYPE>
      %g5 = stablehlo.tanh %g4 : tensor<256x192xTYPE>
      %g6 = stablehlo.add %k2, %g5 : tensor<256x192xTYPE>
      %g7 = stablehlo.multiply %k3, %g6 : tensor<256x192xTYPE>
      %z = stablehlo.multiply %s, %g7 : tensor<256x192xTYPE>)";

std::string program_text(const Case& given, const std::string& result) {
  std::string text = fmt::format(R"(
    func.func @main(%a: tensor<256x128xTYPE>, %w: tensor<128x192xTYPE>, %b: tensor<192xTYPE>,
                    %c: tensor<256x192xTYPE>, %v: tensor<192x64xTYPE>)
        -> (tensor<256x64xTYPE>, tensor<256x192xTYPE>) {{
      %y = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0]
        : (tensor<256x128xTYPE>, tensor<128x192xTYPE>) -> tensor<256x192xTYPE>
      {}
      %o = stablehlo.dot_general %z, %v, contracting_dims = [1] x [0]
        : (tensor<256x192xTYPE>, tensor<192x64xTYPE>) -> tensor<256x64xTYPE>
      return %o, {} : tensor<256x64xTYPE>, tensor<256x192xTYPE>
    }})",
                                 given.body, result);
  for (std::size_t at; (at = text.find("TYPE")) != std::string::npos;)
    text.replace(at, 4, given.type);
  return text;
}

std::vector<Array> arguments_of(const Program& program, double scale) {
  std::vector<Array> arguments;
  std::uint64_t seed = 9;
  for (ValueId v : program.region(program.functions[0].body).args) {
    Array array(program.type_of(v));
    dispatch(array.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (T& x : array.template as_mutable<T>()) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        x = convert_scalar<T>(scale * (static_cast<double>(seed >> 40) / (1 << 23) - 1));
      }
    });
    arguments.push_back(array);
  }
  return arguments;
}

// The reference rounds the product, the sum and every step of the function, the library once: in
// bf16 that is up to six steps of 2^-9, and as much again by the product behind them.
void expect_about(const Array& got, const Array& wanted) {
  dispatch(wanted.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const double share = std::is_same_v<T, float> ? 1e-5 : std::is_same_v<T, BF16> ? 6e-2 : 1e-2;
    for (std::size_t i = 0; i < wanted.as<T>().size(); ++i) {
      const auto x = convert_scalar<double>(got.as<T>()[i]);
      const auto y = convert_scalar<double>(wanted.as<T>()[i]);
      if (std::isnan(y))
        ASSERT_TRUE(std::isnan(x)) << i << ": " << x;
      else
        ASSERT_NEAR(x, y, share * (1 + std::abs(y))) << i;
    }
  });
}

void expect_agrees(const Case& given, const std::string& result, const std::string& words,
                   bool with_nan) {
  const Program program = read_stablehlo(program_text(given, result)).value();
  Target target;
  target.options.device = *gpu::device();
  const Executable executable = compile(program, target).value();
  std::string names;
  for (const StepInfo& step : executable.steps()) names += step.name + "; ";
  EXPECT_THAT(names, testing::HasSubstr(words));
  auto arguments = arguments_of(program, 0.5);
  if (with_nan)
    dispatch(arguments[0].dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      arguments[0].template as_mutable<T>()[5 * 128 + 7] = convert_scalar<T>(std::nan(""));
    });
  const auto wanted = interpret(program, program.functions[0], arguments).value();
  for (int turn = 0; turn < 3; ++turn) {
    const auto got = executable.run(arguments).value();
    for (std::size_t r = 0; r < 2; ++r) expect_about(got[r], wanted[r]);
  }
}

TEST_P(GpuEpilogue, AgreesWithTheReference) {
  const Case& given = GetParam();
  expect_agrees(given, "%c", fmt::format("{} {}", given.type, given.words), false);
}

// What is no number must not become one.
TEST_P(GpuEpilogue, KeepsWhatIsNoNumber) {
  const Case& given = GetParam();
  expect_agrees(given, "%c", fmt::format("{} {}", given.type, given.words), true);
}

// What the GELU is of is a result as well.
TEST_P(GpuEpilogue, KeepsWhatTheFunctionIsOf) {
  const Case& given = GetParam();
  if (given.body != kGelu) GTEST_SKIP() << "only GELU keeps what it is of";
  expect_agrees(given, "%s", fmt::format("{} bias gelu kept", given.type), false);
}

// The gradient of a GELU between the products of a backward pass.
class GpuEpilogueGradient : public ::testing::TestWithParam<const char*> {};

TEST_P(GpuEpilogueGradient, AgreesWithTheReference) {
  if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
  std::string text = R"(
    func.func @main(%a: tensor<256x128xTYPE>, %w: tensor<128x192xTYPE>, %v: tensor<192x64xTYPE>, %d: tensor<256x64xTYPE>)
        -> (tensor<256x64xTYPE>, tensor<256x128xTYPE>) {
      %x = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (FULL, tensor<128x192xTYPE>) -> tensor<256x192xTYPE>
      %k0 = stablehlo.constant dense<0.044715> : tensor<256x192xTYPE>
      %k1 = stablehlo.constant dense<0.79788456> : tensor<256x192xTYPE>
      %k2 = stablehlo.constant dense<1.0> : tensor<256x192xTYPE>
      %k3 = stablehlo.constant dense<0.5> : tensor<256x192xTYPE>
      %k4 = stablehlo.constant dense<3.0> : tensor<256x192xTYPE>
      %g0 = stablehlo.multiply %x, %x : tensor<256x192xTYPE>
      %g1 = stablehlo.multiply %g0, %x : tensor<256x192xTYPE>
      %g2 = stablehlo.multiply %k0, %g1 : tensor<256x192xTYPE>
      %g3 = stablehlo.add %x, %g2 : tensor<256x192xTYPE>
      %g4 = stablehlo.multiply %k1, %g3 : tensor<256x192xTYPE>
      %t = stablehlo.tanh %g4 : tensor<256x192xTYPE>
      %g6 = stablehlo.add %k2, %t : tensor<256x192xTYPE>
      %g7 = stablehlo.multiply %k3, %g6 : tensor<256x192xTYPE>
      %z = stablehlo.multiply %x, %g7 : tensor<256x192xTYPE>
      %o = stablehlo.dot_general %z, %v, contracting_dims = [1] x [0] : (tensor<256x192xTYPE>, tensor<192x64xTYPE>) -> tensor<256x64xTYPE>
      %dz = stablehlo.dot_general %d, %v, contracting_dims = [1] x [1] : (tensor<256x64xTYPE>, tensor<192x64xTYPE>) -> tensor<256x192xTYPE>
      %h0 = stablehlo.multiply %dz, %g7 : tensor<256x192xTYPE>
      %h1 = stablehlo.multiply %x, %dz : tensor<256x192xTYPE>
      %h2 = stablehlo.multiply %k3, %h1 : tensor<256x192xTYPE>
      %h3 = stablehlo.multiply %t, %t : tensor<256x192xTYPE>
      %h4 = stablehlo.subtract %k2, %h3 : tensor<256x192xTYPE>
      %h5 = stablehlo.multiply %h2, %h4 : tensor<256x192xTYPE>
      %h6 = stablehlo.multiply %h5, %k1 : tensor<256x192xTYPE>
      %h7 = stablehlo.multiply %k4, %g0 : tensor<256x192xTYPE>
      %h8 = stablehlo.multiply %k0, %h7 : tensor<256x192xTYPE>
      %h9 = stablehlo.multiply %h6, %h8 : tensor<256x192xTYPE>
      %s0 = stablehlo.add %h0, %h6 : tensor<256x192xTYPE>
      %dx = stablehlo.add %s0, %h9 : tensor<256x192xTYPE>
      %da = stablehlo.dot_general %dx, %w, contracting_dims = [1] x [1] : (tensor<256x192xTYPE>, tensor<128x192xTYPE>) -> FULL
      return %o, %da : tensor<256x64xTYPE>, FULL
    })";
  for (const auto& [word, with] : {std::pair("FULL", "tensor<256x128xTYPE>"), {"TYPE", GetParam()}})
    for (std::size_t at; (at = text.find(word)) != std::string::npos;) text.replace(at, 4, with);
  const Program program = read_stablehlo(text).value();
  Target target;
  target.options.device = *gpu::device();
  const Executable executable = compile(program, target).value();
  std::string names;
  for (const StepInfo& step : executable.steps()) names += step.name + "; ";
  EXPECT_THAT(names, testing::HasSubstr("gelu_gradient"));
  const auto arguments = arguments_of(program, 0.5);
  const auto wanted = interpret(program, program.functions[0], arguments).value();
  for (int turn = 0; turn < 3; ++turn) {
    const auto got = executable.run(arguments).value();
    for (std::size_t r = 0; r < 2; ++r) expect_about(got[r], wanted[r]);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, GpuEpilogueGradient, ::testing::Values("bf16", "f16"));

// In f32 the function stays a kernel, which is exact to the last digits.
TEST_F(GpuEpilogue, AGeluOfF32IsAKernel) {
  const Case given{"f32", "bias gelu", kGelu};
  const Program program = read_stablehlo(program_text(given, "%c")).value();
  Target target;
  target.options.device = *gpu::device();
  const Executable executable = compile(program, target).value();
  for (const StepInfo& step : executable.steps())
    EXPECT_THAT(step.name, testing::Not(testing::HasSubstr("gelu")));
  const auto arguments = arguments_of(program, 0.5);
  const auto wanted = interpret(program, program.functions[0], arguments).value();
  expect_about(executable.run(arguments).value()[0], wanted[0]);
}

INSTANTIATE_TEST_SUITE_P(Types, GpuEpilogue,
                         ::testing::Values(Case{"f32", "bias", kBias}, Case{"bf16", "bias", kBias},
                                           Case{"f16", "bias", kBias}, Case{"f32", "add", kAdd},
                                           Case{"bf16", "add", kAdd}, Case{"f16", "add", kAdd},
                                           Case{"f32", "bias relu", kRelu},
                                           Case{"bf16", "bias relu", kRelu},
                                           Case{"f16", "bias relu", kRelu},
                                           Case{"bf16", "bias gelu", kGelu},
                                           Case{"f16", "bias gelu", kGelu}));

}  // namespace
}  // namespace heddle::epilogue_tests
