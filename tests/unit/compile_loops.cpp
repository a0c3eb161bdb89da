// Loops that the CPU does as functions of their own, beside the interpreter, from the first turn
// on.
#include <gmock/gmock.h>

#include <atomic>

#include "compiled.h"
#include "device/cpu/device.h"

namespace heddle::loop_tests {
namespace {

using testing::HasSubstr;

CpuDevice& eager_device() {
  static CpuDevice device(CpuJitOptions{.turns_before_code = 0});
  return device;
}

CompileOptions eager() {
  CompileOptions options;
  options.device = &eager_device();
  return options;
}

bool is_whole(const Executable& executable) {
  for (const StepInfo& info : executable.steps())
    if (info.note.find("one function") != std::string::npos) return true;
  return false;
}

// `inside`: from %i, an i32 that counts, and %p to %q, of a type; `turns` as many as an argument
// says.
std::string loop_of(std::string_view type, std::string_view inside) {
  return fmt::format(
      R"(func.func @main(%a: tensor<{0}>, %n: tensor<i32>) -> (tensor<{0}>, tensor<i32>) {{
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %p = %a) : tensor<i32>, tensor<{0}>
      cond {{
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }} do {{
        {1}
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %q : tensor<i32>, tensor<{0}>
      }}
    return %r#1, %r#0 : tensor<{0}>, tensor<i32>
  }})",
      type, inside);
}

void expect_same_for_all_turns(const std::string& text) {
  if (const auto target = CpuJit().target(); !target) GTEST_SKIP() << target.reason();
  const Program program = read(text);
  EXPECT_TRUE(is_whole(compiled(program, eager()))) << text;
  for (std::int32_t turns : {0, 1, 2, 7}) {
    std::vector<Array> arguments = arguments_for(program);
    arguments.back().as_mutable<std::int32_t>()[0] = turns;
    expect_same(program, arguments, eager());
  }
}

TEST(Loops, OfOneNumber) {
  expect_same_for_all_turns(loop_of("f32", R"(
        %half = stablehlo.constant dense<0.5> : tensor<f32>
        %m = stablehlo.multiply %p, %half : tensor<f32>
        %q = stablehlo.subtract %m, %a : tensor<f32>)"));
}

// Beyond what fits the stack of the function the two places change their roles.
TEST(Loops, OfValuesThatChangePlaces) {
  for (const char* type : {"5xf32", "40xf32", "23xi8", "9xf64", "7xbf16"})
    expect_same_for_all_turns(loop_of(type, fmt::format(R"(
        %w = stablehlo.reverse %p, dims = [0] : tensor<{0}>
        %q = stablehlo.add %w, %a : tensor<{0}>)",
                                                        type)));
}

TEST(Loops, OfSumsAndWhatComesOfThem) {
  expect_same_for_all_turns(loop_of("33xf32", R"(
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %s = stablehlo.reduce(%p init: %z) applies stablehlo.maximum across dimensions = [0]
          : (tensor<33xf32>, tensor<f32>) -> tensor<f32>
        %t = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<33xf32>
        %q = stablehlo.subtract %a, %t : tensor<33xf32>)"));
}

// Starts beyond either end are moved.
TEST(Loops, ThatWriteSlices) {
  for (const char* start : {"%i", "%far", "%below"})
    expect_same_for_all_turns(loop_of("6x4xf32", fmt::format(R"(
        %far = stablehlo.constant dense<90> : tensor<i32>
        %below = stablehlo.constant dense<-3> : tensor<i32>
        %u = stablehlo.slice %a [1:3, 0:3] : (tensor<6x4xf32>) -> tensor<2x3xf32>
        %v = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
        %w = stablehlo.broadcast_in_dim %v, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
        %x = stablehlo.add %u, %w : tensor<2x3xf32>
        %q = stablehlo.dynamic_update_slice %p, %x, {}, %one :
            (tensor<6x4xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<6x4xf32>)",
                                                             start)));
}

TEST(Loops, InsideOfLoopsAndWithBranches) {
  expect_same_for_all_turns(loop_of("6xf32", R"(
        %in:2 = stablehlo.while(%k = %zero, %s = %p) : tensor<i32>, tensor<6xf32>
          cond {
            %c = stablehlo.compare LT, %k, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %l = stablehlo.add %k, %one : tensor<i32>
            %m = stablehlo.reverse %s, dims = [0] : tensor<6xf32>
            %o = stablehlo.add %m, %a : tensor<6xf32>
            stablehlo.return %l, %o : tensor<i32>, tensor<6xf32>
          }
        %odd = stablehlo.and %i, %one : tensor<i32>
        %is_odd = stablehlo.compare EQ, %odd, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %b = "stablehlo.if"(%is_odd) ({
          %n1 = stablehlo.negate %in#1 : tensor<6xf32>
          stablehlo.return %n1 : tensor<6xf32>
        }, {
          stablehlo.return %a : tensor<6xf32>
        }) : (tensor<i1>) -> tensor<6xf32>
        %t = "stablehlo.case"(%i) ({
          stablehlo.return %a : tensor<6xf32>
        }, {
          %n2 = stablehlo.negate %a : tensor<6xf32>
          stablehlo.return %n2 : tensor<6xf32>
        }, {
          stablehlo.return %p : tensor<6xf32>
        }) : (tensor<i32>) -> tensor<6xf32>
        %q = stablehlo.subtract %b, %t : tensor<6xf32>)"));
}

TEST(Loops, AreFunctionsOnlyOnceTheyHaveGoneOnForLong) {
  if (const auto target = CpuJit().target(); !target) GTEST_SKIP() << target.reason();
  const Program program = read(loop_of("3xi32", R"(
        %q = stablehlo.add %p, %a : tensor<3xi32>)"));
  CpuDevice device(CpuJitOptions{.turns_before_code = 3000});
  CompileOptions options;
  options.device = &device;
  std::vector<Array> arguments = arguments_for(program);
  arguments[1].as_mutable<std::int32_t>()[0] = 5001;  // in the middle of a run
  expect_same(program, arguments, options);
}

TEST(Loops, OfLargeValuesStaySteps) {
  if (const auto target = CpuJit().target(); !target) GTEST_SKIP() << target.reason();
  EXPECT_FALSE(is_whole(compiled(read(loop_of("100000xf32", R"(
        %q = stablehlo.add %p, %a : tensor<100000xf32>)")),
                                 eager())));
}

TEST(Loops, AreStopped) {
  if (const auto target = CpuJit().target(); !target) GTEST_SKIP() << target.reason();
  const Program program = read(loop_of("f32", R"(
        %q = stablehlo.add %p, %a : tensor<f32>)"));
  std::vector<Array> arguments = arguments_for(program);
  arguments[1].as_mutable<std::int32_t>()[0] = INT32_MAX;
  int asked = 0;
  const RunOptions options{.stop = [&] { return ++asked == 5; }};
  EXPECT_THAT(compiled(program, eager()).run(arguments, options).reason(),
              HasSubstr("the run was stopped before step"));
}

}  // namespace
}  // namespace heddle::loop_tests
