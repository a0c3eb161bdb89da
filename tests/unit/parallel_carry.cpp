// Which results are the next run's arguments: said, or evident.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/carry.h"
#include "heddle/stablehlo.h"

namespace heddle {
namespace {

using testing::HasSubstr;

Program pair() {
  return read_stablehlo(R"(
    func.func @main(%w: tensor<4xf32>, %x: tensor<2xf32>) -> (tensor<f32>, tensor<4xf32>) {
      %l = stablehlo.constant dense<0.0> : tensor<f32>
      return %l, %w : tensor<f32>, tensor<4xf32>
    })",
                        "test")
      .value();
}

std::string why_not(const std::vector<std::string>& said) {
  const Program program = pair();
  return parse_carry(program, program.functions[0], said).reason();
}

TEST(Carry, SaidByNumbers) {
  const Program program = pair();
  const CarryPlan plan = parse_carry(program, program.functions[0], {"arg0=result1"}).value();
  EXPECT_TRUE(plan.said);
  EXPECT_EQ(plan.pairs, (std::vector<Carried>{{0, 1}}));
  EXPECT_EQ(plan.text(), "arg0=result1");
  EXPECT_TRUE(plan.takes(0) && plan.gives(1) && !plan.takes(1) && !plan.gives(0));
}

TEST(Carry, WrongWords) {
  EXPECT_THAT(why_not({"arg0"}), HasSubstr("carry arg0: write ARGUMENTS=RESULTS"));
  EXPECT_THAT(why_not({"arg2=result1"}), HasSubstr("there is no argument 2: main has 2"));
  EXPECT_THAT(why_not({"arg0=result2"}), HasSubstr("there is no result 2"));
  EXPECT_THAT(why_not({"arg0-1=result1"}), HasSubstr("2 arguments are to come from 1 result"));
  EXPECT_THAT(why_not({"arg1=result1"}), HasSubstr("argument 1 is tensor<2xf32>"));
  EXPECT_THAT(why_not({"arg0=result1,arg0=result1"}), HasSubstr("comes from result 1 already"));
}

TEST(Carry, EvidentByTheOrderOfTypes) {
  const Program program = pair();
  const CarryPlan plan = evident_carry(program, program.functions[0]);
  EXPECT_FALSE(plan.said);
  EXPECT_EQ(plan.text(), "arg0=result1");
  EXPECT_EQ(plan.because, "equal types in order");
}

}  // namespace
}  // namespace heddle
