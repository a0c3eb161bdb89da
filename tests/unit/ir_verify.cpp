#include <gmock/gmock.h>

#include <chrono>

#include "heddle/verify.h"
#include "ir_build.h"

namespace heddle {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string defect(const TestProgram& b) {
  Verdict v = verify(b.program);
  return v ? "" : v.reason();
}

TEST(Verify, AcceptsAnEmptyFunction) {
  TestProgram b;
  b.end(b.begin("main"));
  EXPECT_EQ(defect(b), "");
}

TEST(Verify, CountsOperands) {
  TestProgram b;
  const RegionId main = b.begin("main", {f32()});
  b.add(main, "stablehlo.add", {b.arg(main, 0)}, {f32()});
  b.end(main);
  EXPECT_EQ(defect(b), "test.mlir:1:3: [add] operands: 1 came in, 2 expected");
}

TEST(Verify, UsesComeAfterDefinitions) {
  TestProgram b;
  const RegionId main = b.begin("main", {f32()});
  const ValueId later = b.arg(main, 0) + 2;
  b.add(main, "stablehlo.negate", {later}, {f32()});
  b.add(main, "stablehlo.negate", {b.arg(main, 0)}, {f32()});
  b.end(main);
  EXPECT_THAT(defect(b), HasSubstr("operand 0 is used where it is not defined"));
}

TEST(Verify, ValuesOfARegionEndWithIt) {
  TestProgram b;
  const RegionId main = b.begin("main", {i1()});
  const RegionId yes_branch = b.region(), no_branch = b.region();
  const ValueId inner = b.constant(yes_branch, floats32({}, {1}));
  b.add(yes_branch, "stablehlo.return", {inner});
  b.add(no_branch, "stablehlo.return", {inner});
  b.add(main, "stablehlo.if", {b.arg(main, 0)}, {f32()}, {}, {yes_branch, no_branch});
  b.end(main);
  EXPECT_THAT(defect(b), StartsWith("test.mlir:3:3: [return] operand 0 is used where"));
}

TEST(Verify, OtherFunctionsValuesAreOutOfReach) {
  TestProgram b;
  const RegionId f = b.begin("f", {f32()});
  b.end(f);
  const RegionId g = b.begin("g");
  b.end(g, {b.arg(f, 0)});
  EXPECT_THAT(defect(b), HasSubstr("not defined"));
}

TEST(Verify, RegionsEndWithTheirReturn) {
  TestProgram b;
  const RegionId main = b.begin("main", {f32()});
  b.add(main, "stablehlo.return", {});
  EXPECT_THAT(defect(b), HasSubstr("func.return was expected"));
  TestProgram c;
  c.begin("main");
  EXPECT_THAT(defect(c), HasSubstr("a region is empty"));
}

TEST(Verify, NothingFollowsAReturn) {
  TestProgram b;
  const RegionId main = b.begin("main");
  b.end(main);
  b.end(main);
  EXPECT_THAT(defect(b), HasSubstr("nothing can reach"));
}

TEST(Verify, ReturnsWhatTheFunctionPromises) {
  TestProgram b;
  const RegionId main = b.begin("main", {f32()});
  b.end(main, {b.arg(main, 0)});
  b.program.functions[0].results[0] = b.program.intern(i32());
  EXPECT_THAT(defect(b),
              HasSubstr("returns tensor<f32> at place 0, function @main has tensor<i32>"));
}

TEST(Verify, CallsAgreeWithTheirFunction) {
  TestProgram b;
  const RegionId f = b.begin("f", {f32()});
  b.end(f);
  const RegionId main = b.begin("main", {i32()});
  b.add(main, "func.call", {b.arg(main, 0)}, {}, {{"callee", symbol("f")}});
  b.end(main);
  EXPECT_THAT(defect(b), HasSubstr("passes tensor<i32> at place 0, function @f has tensor<f32>"));
  TestProgram c;
  const RegionId body = c.begin("main");
  c.add(body, "func.call", {}, {}, {{"callee", symbol("nobody")}});
  c.end(body);
  EXPECT_THAT(defect(c), HasSubstr("there is no function @nobody"));
}

TEST(Verify, FunctionsHaveOneName) {
  TestProgram b;
  b.end(b.begin("f"));
  const RegionId second = b.begin("f");
  b.add(second, "func.return", {});
  EXPECT_THAT(defect(b), HasSubstr("@f is defined twice"));
}

TEST(Verify, OpsBelongToAFunction) {
  TestProgram b;
  b.end(b.begin("main"));
  b.add(b.region(), "stablehlo.return", {});
  EXPECT_THAT(defect(b), HasSubstr("1 of 2 ops are in no function"));
}

TEST(Verify, SizesDoNotOverflow) {
  TestProgram b;
  const std::int64_t big = std::int64_t{1} << 40;
  b.end(b.begin("main", {f32({big, 0, big})}));
  EXPECT_THAT(defect(b), HasSubstr("more elements than can be counted"));
}

TEST(Verify, SaysWhereTheUsersLineIs) {
  TestProgram b;
  const RegionId main = b.begin("main", {f32()});
  const LocId loc = b.program.add_location({7, 5, "model.py:57"});
  b.program.add_op(main, *find_op("stablehlo.add"), std::vector{b.arg(main, 0)}, {}, {}, {}, loc);
  b.end(main);
  EXPECT_EQ(defect(b), "test.mlir:7:5: [add] operands: 1 came in, 2 expected (from model.py:57)");
}

TEST(Verify, IsLinear) {
  TestProgram b;
  const RegionId main = b.begin("main", {f32({4})});
  ValueId x = b.arg(main, 0);
  for (int i = 0; i < 80000; ++i) x = b.add(main, "stablehlo.add", {x, x}, {f32({4})})[0];
  b.end(main, {x});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(defect(b), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

}  // namespace
}  // namespace heddle
