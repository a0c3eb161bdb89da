// What simplify() makes of small programs: text in, text out.
#include <gtest/gtest.h>

#include "heddle/interpreter.h"
#include "heddle/simplify.h"
#include "heddle/stablehlo.h"

namespace heddle {
namespace {

// The body of main after simplify(), without the head and the end of the module.
std::string simplified(std::string_view arguments, std::string_view results,
                       std::string_view body) {
  const std::string text = "func.func @main(" + std::string(arguments) + ") -> (" +
                           std::string(results) + ") {\n" + std::string(body) + "\n}\n";
  auto program = read_stablehlo(text, "test.mlir");
  if (!program) return program.reason();
  auto simple = simplify(*program);
  if (!simple) return simple.reason();
  std::string out = print_stablehlo(*simple);
  out = out.substr(out.find("{\n", out.find("@main")) + 2);
  out = out.substr(0, out.find("  }\n"));
  std::string lines;
  for (std::size_t at = 0; at < out.size();) {
    const std::size_t end = out.find('\n', at);
    lines += out.substr(at + 4, end - at - 3);
    at = end + 1;
  }
  return lines;
}

TEST(Simplify, LeavesOutWhatNobodyUses) {
  EXPECT_EQ(simplified("%a: tensor<2xf32>", "tensor<2xf32>",
                       "%0 = stablehlo.exponential %a : tensor<2xf32>\n"
                       "%1 = stablehlo.add %0, %0 : tensor<2xf32>\n"
                       "return %a : tensor<2xf32>"),
            "return %arg0 : tensor<2xf32>\n");
}

TEST(Simplify, KeepsWhatHasAnEffect) {
  const std::string text = simplified(
      "%a: tensor<2xf32>", "tensor<2xf32>",
      "stablehlo.custom_call @note(%a) {has_side_effect = true} : (tensor<2xf32>) -> ()\n"
      "return %a : tensor<2xf32>");
  EXPECT_NE(text.find("custom_call @note"), std::string::npos) << text;
}

TEST(Simplify, APartOfWhatIsRepeatedIsRepeatedLess) {
  const std::string part =
      "%1 = stablehlo.dynamic_slice %0, %i, %j, sizes = [2, 4] : (tensor<8x4xf32>, tensor<i32>, "
      "tensor<i32>) -> tensor<2x4xf32>\nreturn %1 : tensor<2x4xf32>";
  EXPECT_EQ(simplified("%a: tensor<4xf32>, %i: tensor<i32>, %j: tensor<i32>", "tensor<2x4xf32>",
                       "%0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<4xf32>) -> "
                       "tensor<8x4xf32>\n" +
                           part),
            "%0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> "
            "tensor<2x4xf32>\nreturn %0 : tensor<2x4xf32>\n");
  EXPECT_EQ(simplified("%i: tensor<i32>, %j: tensor<i32>", "tensor<2x4xf32>",
                       "%0 = stablehlo.constant dense<3.0> : tensor<8x4xf32>\n" + part),
            "%0 = stablehlo.constant dense<3.000000e+00> : tensor<2x4xf32>\n"
            "return %0 : tensor<2x4xf32>\n");
  // Along the dimension that is cut it is not the same everywhere.
  const std::string other = simplified(
      "%a: tensor<8xf32>, %i: tensor<i32>, %j: tensor<i32>", "tensor<2x4xf32>",
      "%0 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>\n" +
          part);
  EXPECT_NE(other.find("dynamic_slice"), std::string::npos) << other;
}

TEST(Simplify, ComputesConstants) {
  EXPECT_EQ(simplified("", "tensor<2xi32>",
                       "%0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"
                       "%1 = stablehlo.constant dense<3> : tensor<2xi32>\n"
                       "%2 = stablehlo.multiply %0, %1 : tensor<2xi32>\n"
                       "return %2 : tensor<2xi32>"),
            "%0 = stablehlo.constant dense<[3, 6]> : tensor<2xi32>\n"
            "return %0 : tensor<2xi32>\n");
}

TEST(Simplify, ComputesLargeConstantsOfOneValueOnly) {
  EXPECT_EQ(simplified("", "tensor<1000x1000xf32>",
                       "%0 = stablehlo.constant dense<2.0> : tensor<f32>\n"
                       "%1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> "
                       "tensor<1000x1000xf32>\n"
                       "%2 = stablehlo.multiply %1, %1 : tensor<1000x1000xf32>\n"
                       "return %2 : tensor<1000x1000xf32>"),
            "%0 = stablehlo.constant dense<4.000000e+00> : tensor<1000x1000xf32>\n"
            "return %0 : tensor<1000x1000xf32>\n");
}

TEST(Simplify, UsesWhatIsThere) {
  EXPECT_EQ(simplified("%a: tensor<2xf32>", "tensor<2xf32>",
                       "%0 = stablehlo.exponential %a : tensor<2xf32>\n"
                       "%1 = stablehlo.exponential %a : tensor<2xf32>\n"
                       "%2 = stablehlo.add %0, %1 : tensor<2xf32>\n"
                       "return %2 : tensor<2xf32>"),
            "%0 = stablehlo.exponential %arg0 : tensor<2xf32>\n"
            "%1 = stablehlo.add %0, %0 : tensor<2xf32>\n"
            "return %1 : tensor<2xf32>\n");
}

// Sums too, whose steps are regions; but not one along another dimension, nor a maximum.
TEST(Simplify, UsesTheReductionThatIsThere) {
  const auto reductions = [](const std::string& second) {
    const std::string text = simplified(
        "%m: tensor<2x2xf32>", "tensor<2xf32>",
        "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "%0 = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions = [0] : "
        "(tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>\n"
        "%1 = stablehlo.reduce(%m init: %z) applies " +
            second +
            " : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>\n"
            "%2 = stablehlo.multiply %0, %1 : tensor<2xf32>\n"
            "return %2 : tensor<2xf32>");
    std::size_t count = 0;
    for (std::size_t at = text.find(".reduce("); at != text.npos;
         at = text.find(".reduce(", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(reductions("stablehlo.add across dimensions = [0]"), 1U);
  EXPECT_EQ(reductions("stablehlo.add across dimensions = [1]"), 2U);
  EXPECT_EQ(reductions("stablehlo.maximum across dimensions = [0]"), 2U);
}

// Attributes count: these two are not the same.
TEST(Simplify, TellsOpsApartByTheirAttributes) {
  const std::string text = simplified("%a: tensor<2x2xf32>", "tensor<2x2xf32>",
                                      "%0 = stablehlo.reverse %a, dims = [0] : tensor<2x2xf32>\n"
                                      "%1 = stablehlo.reverse %a, dims = [1] : tensor<2x2xf32>\n"
                                      "%2 = stablehlo.add %0, %1 : tensor<2x2xf32>\n"
                                      "return %2 : tensor<2x2xf32>");
  EXPECT_NE(text.find("dims = [0]"), std::string::npos) << text;
  EXPECT_NE(text.find("dims = [1]"), std::string::npos) << text;
}

// A value from inside one branch cannot be used in the other.
TEST(Simplify, KeepsBranchesApart) {
  const std::string branch =
      "({\n  %x = stablehlo.exponential %a : tensor<2xf32>\n  stablehlo.return %x : "
      "tensor<2xf32>\n}, {\n  %y = stablehlo.exponential %a : tensor<2xf32>\n  %z = "
      "stablehlo.negate %y : tensor<2xf32>\n  stablehlo.return %z : tensor<2xf32>\n})";
  const std::string text =
      simplified("%p: tensor<i1>, %a: tensor<2xf32>", "tensor<2xf32>",
                 "%0 = \"stablehlo.if\"(%p) " + branch +
                     " : (tensor<i1>) -> tensor<2xf32>\nreturn %0 : tensor<2xf32>");
  EXPECT_NE(text.find("exponential", text.find("exponential") + 1), std::string::npos) << text;
}

TEST(Simplify, TakesTheBranchThatIsKnown) {
  EXPECT_EQ(simplified("%a: tensor<2xf32>", "tensor<2xf32>",
                       "%p = stablehlo.constant dense<false> : tensor<i1>\n"
                       "%0 = \"stablehlo.if\"(%p) ({\n stablehlo.return %a : tensor<2xf32>\n}, {\n"
                       " %z = stablehlo.negate %a : tensor<2xf32>\n"
                       " stablehlo.return %z : tensor<2xf32>\n}) : (tensor<i1>) -> tensor<2xf32>\n"
                       "return %0 : tensor<2xf32>"),
            "%0 = stablehlo.negate %arg0 : tensor<2xf32>\nreturn %0 : tensor<2xf32>\n");
}

struct Case {
  const char *what, *type, *op;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.what; }
};
class SimplifyToTheOperand : public testing::TestWithParam<Case> {};
TEST_P(SimplifyToTheOperand, Changes) {
  const Case& c = GetParam();
  const std::string type = c.type;
  EXPECT_EQ(simplified("%a: " + type, type, std::string(c.op) + "\nreturn %r : " + type),
            "return %arg0 : " + type + "\n");
}
INSTANTIATE_TEST_SUITE_P(
    Rules, SimplifyToTheOperand,
    testing::Values(
        Case{"TimesOne", "tensor<2xf32>",
             "%c = stablehlo.constant dense<1.0> : tensor<2xf32>\n"
             "%r = stablehlo.multiply %c, %a : tensor<2xf32>"},
        Case{"MinusZero", "tensor<2xf32>",
             "%c = stablehlo.constant dense<0.0> : tensor<2xf32>\n"
             "%r = stablehlo.subtract %a, %c : tensor<2xf32>"},
        Case{"PlusNegativeZero", "tensor<2xf32>",
             "%c = stablehlo.constant dense<-0.0> : tensor<2xf32>\n"
             "%r = stablehlo.add %a, %c : tensor<2xf32>"},
        Case{"PlusZeroOfIntegers", "tensor<2xi32>",
             "%c = stablehlo.constant dense<0> : tensor<2xi32>\n"
             "%r = stablehlo.add %a, %c : tensor<2xi32>"},
        Case{"NegateTwice", "tensor<2xf32>",
             "%0 = stablehlo.negate %a : tensor<2xf32>\n"
             "%r = stablehlo.negate %0 : tensor<2xf32>"},
        Case{"TransposeBack", "tensor<2x3xf32>",
             "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
             "%r = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>"},
        Case{"ReshapeBack", "tensor<2x3xf32>",
             "%0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>\n"
             "%r = stablehlo.reshape %0 : (tensor<6xf32>) -> tensor<2x3xf32>"},
        Case{"WidenAndBack", "tensor<2xbf16>",
             "%0 = stablehlo.convert %a : (tensor<2xbf16>) -> tensor<2xf32>\n"
             "%r = stablehlo.convert %0 : (tensor<2xf32>) -> tensor<2xbf16>"},
        Case{"SliceOfAll", "tensor<2xf32>",
             "%r = stablehlo.slice %a [0:2] : (tensor<2xf32>) -> tensor<2xf32>"},
        Case{"MaximumOfItself", "tensor<2xf32>", "%r = stablehlo.maximum %a, %a : tensor<2xf32>"}),
    [](const auto& info) { return std::string(info.param.what); });

class SimplifyKeeps : public testing::TestWithParam<Case> {};
TEST_P(SimplifyKeeps, AsItIs) {
  const Case& c = GetParam();
  const std::string type = c.type;
  EXPECT_NE(simplified("%a: " + type, type, std::string(c.op) + "\nreturn %r : " + type),
            "return %arg0 : " + type + "\n");
}
INSTANTIATE_TEST_SUITE_P(
    Traps, SimplifyKeeps,
    testing::Values(Case{"PlusZeroOfFloats", "tensor<2xf32>",  // -0 + 0 is 0
                         "%c = stablehlo.constant dense<0.0> : tensor<2xf32>\n"
                         "%r = stablehlo.add %a, %c : tensor<2xf32>"},
                    Case{"MinusNegativeZero", "tensor<2xf32>",
                         "%c = stablehlo.constant dense<-0.0> : tensor<2xf32>\n"
                         "%r = stablehlo.subtract %a, %c : tensor<2xf32>"},
                    Case{"NarrowAndBack", "tensor<2xf32>",
                         "%0 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xbf16>\n"
                         "%r = stablehlo.convert %0 : (tensor<2xbf16>) -> tensor<2xf32>"},
                    Case{"FloatMinusItself", "tensor<2xf32>",  // NaN for infinity
                         "%r = stablehlo.subtract %a, %a : tensor<2xf32>"},
                    Case{"ReverseTwiceElsewhere", "tensor<2x2xf32>",
                         "%0 = stablehlo.reverse %a, dims = [0] : tensor<2x2xf32>\n"
                         "%r = stablehlo.reverse %0, dims = [1] : tensor<2x2xf32>"}),
    [](const auto& info) { return std::string(info.param.what); });

// Two draws are two draws, and each stays what it was.
TEST(Simplify, LeavesRandomNumbersAsTheyAre) {
  const Program program =
      read_stablehlo(
          "func.func @main() -> (tensor<4xf32>, tensor<4xf32>) {\n"
          "%unused = stablehlo.constant dense<3.0> : tensor<f32>\n"
          "%a = stablehlo.constant dense<0.0> : tensor<f32>\n"
          "%b = stablehlo.constant dense<1.0> : tensor<f32>\n"
          "%s = stablehlo.constant dense<4> : tensor<1xi64>\n"
          "%0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, "
          "tensor<1xi64>) -> tensor<4xf32>\n"
          "%1 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, "
          "tensor<1xi64>) -> tensor<4xf32>\n"
          "return %0, %1 : tensor<4xf32>, tensor<4xf32>\n}")
          .value();
  const Program simple = simplify(program).value();
  const auto before = interpret(program, program.functions[0], {}).value();
  EXPECT_EQ(interpret(simple, simple.functions[0], {}).value(), before);
  EXPECT_FALSE(before[0] == before[1]);
}

// The sum of one number begins with 0, which makes a zero positive: the addition stays.
TEST(Simplify, AReductionAlongDimensionsOfOneElementIsOneStep) {
  EXPECT_EQ(simplified("%a: tensor<1x1x4xf32>", "tensor<4xf32>",
                       "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
                       "%0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions "
                       "= [0, 1] : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<4xf32>\n"
                       "return %0 : tensor<4xf32>"),
            "%0 = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>\n"
            "%1 = stablehlo.reshape %arg0 : (tensor<1x1x4xf32>) -> tensor<4xf32>\n"
            "%2 = stablehlo.add %0, %1 : tensor<4xf32>\n"
            "return %2 : tensor<4xf32>\n");
}

TEST(Simplify, SlicesAtKnownPlaces) {
  EXPECT_EQ(simplified("%a: tensor<5xf32>", "tensor<2xf32>",
                       "%c = stablehlo.constant dense<9> : tensor<i32>\n"
                       "%0 = stablehlo.dynamic_slice %a, %c, sizes = [2] : (tensor<5xf32>, "
                       "tensor<i32>) -> tensor<2xf32>\nreturn %0 : tensor<2xf32>"),
            "%0 = stablehlo.slice %arg0 [3:5] : (tensor<5xf32>) -> tensor<2xf32>\n"
            "return %0 : tensor<2xf32>\n");
}

}  // namespace
}  // namespace heddle
