#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/carry.h"
#include "heddle/stablehlo.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;

// Names as current versions of JAX give them, and as older ones did; results in another order.
Program named() {
  return read_stablehlo(R"(
    func.func public @main(%a: tensor<2xf32> loc("params['a, =b']"),
        %b: tensor<3xf32> {jax.arg_info = "params.w[0]"}, %x: tensor<4xf32> loc("batch"))
        -> (tensor<f32> {jax.result_info = "result[0]"},
            tensor<3xf32> {jax.result_info = "result[1].w[0]"},
            tensor<2xf32> {jax.result_info = "result[1]['a, =b']"}) {
      %l = stablehlo.constant dense<0.0> : tensor<f32>
      return %l, %b, %a : tensor<f32>, tensor<3xf32>, tensor<2xf32>
    })",
                        "test")
      .value();
}

std::string said(const std::string& text) {
  const Program program = named();
  const auto plan = parse_carry(program, program.functions[0], {text});
  return plan ? plan->text() : plan.reason();
}

TEST(Carry, NumbersNamesAndGroups) {
  EXPECT_EQ(said("arg0=result2"), "arg0=result2");
  EXPECT_EQ(said(" arg1 = result1 , arg0=result2"), "arg0=result2,arg1=result1");
  EXPECT_EQ(said("params['a, =b']=result[1]['a, =b']"), "arg0=result2");
  EXPECT_EQ(said("params.w[0]=result1"), "arg1=result1");
  EXPECT_EQ(said("params=result[1]"), "arg0=result2,arg1=result1");
}

TEST(Carry, WhatIsMisspeltIsSaid) {
  EXPECT_THAT(said("parms=result[1]"), HasSubstr("no argument of main is called parms"));
  EXPECT_THAT(said("params.w[1]=result1"), HasSubstr("did you mean `params.w[0]`"));
  EXPECT_THAT(said("parms=result[1]"), HasSubstr("did you mean `params`"));
  EXPECT_THAT(said("params=reslut[1]"), HasSubstr("did you mean `result[1]`"));
  EXPECT_THAT(said("params=result"), HasSubstr("2 arguments are to come from 3 results"));
  EXPECT_THAT(said("params=result0-1"), HasSubstr("argument 0 is tensor<2xf32>"));
  EXPECT_THAT(said("batch=result[1]['a, =b']"), HasSubstr("argument 2 is tensor<4xf32>"));
  EXPECT_THAT(said("arg0"), HasSubstr("write ARGUMENTS=RESULTS"));
}

TEST(Carry, IsEvidentByNamesOfEitherKind) {
  const Program program = read_stablehlo(R"(
    func.func public @main(%x: tensor<2xf32> loc("batch"), %a: tensor<2xf32> loc("params['a]b']"),
        %b: tensor<2xf32> {jax.arg_info = "params['w']"})
        -> (tensor<2xf32> {jax.result_info = "result['p']['a]b']"},
            tensor<2xf32> {jax.result_info = "result['p']['w']"}) {
      return %a, %b : tensor<2xf32>, tensor<2xf32>
    })",
                                         "test")
                              .value();
  const CarryPlan plan = evident_carry(program, program.functions[0]);
  EXPECT_EQ(plan.because, "names");
  EXPECT_EQ(plan.text(), "arg1-2=result0-1");
}

}  // namespace
}  // namespace heddle
