#include <gmock/gmock.h>

#include "ir/eval/check.h"
#include "ir_build.h"

namespace heddle {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string text(const Verdict& v) { return v ? "" : v.reason(); }

// while (i < 10) { i += 1; sum += i; }
TEST(Control, WhileRunsUntilItsConditionFails) {
  TestProgram b;
  const RegionId main = b.begin("main");
  const ValueId zero = b.constant(main, ints32({}, {0}));
  const ValueId one = b.constant(main, ints32({}, {1}));
  const ValueId ten = b.constant(main, ints32({}, {10}));
  const RegionId cond = b.region({i32(), i32()}), body = b.region({i32(), i32()});
  b.add(cond, "stablehlo.return",
        b.add(cond, "stablehlo.compare", {b.arg(cond, 0), ten}, {i1()},
              {{"comparison_direction", Attr{Attr::Enum{"comparison_direction", "LT"}}}}));
  const ValueId i = b.add(body, "stablehlo.add", {b.arg(body, 0), one}, {i32()})[0];
  const ValueId sum = b.add(body, "stablehlo.add", {b.arg(body, 1), i}, {i32()})[0];
  b.add(body, "stablehlo.return", {i, sum});
  b.end(main, b.add(main, "stablehlo.while", {zero, zero}, {i32(), i32()}, {}, {cond, body}));
  auto got = b.run("main");
  ASSERT_TRUE(got.ok()) << got.reason();
  EXPECT_EQ((*got)[0], ints32({}, {10}));
  EXPECT_EQ((*got)[1], ints32({}, {55}));
}

TEST(Control, WhileChecksItsRegions) {
  TestProgram b;
  const RegionId main = b.begin("main", {i32()});
  const RegionId cond = b.region({i32()}), body = b.region({i32()});
  b.add(cond, "stablehlo.return", {b.arg(cond, 0)});
  b.add(body, "stablehlo.return", {b.arg(body, 0)});
  b.add(main, "stablehlo.while", {b.arg(main, 0)}, {i32()}, {}, {cond, body});
  b.end(main);
  EXPECT_THAT(b.why("main", {ints32({}, {0})}), HasSubstr("[while] C1:"));
}

TestProgram branching(std::string_view name, const Type& index, int branches) {
  TestProgram b;
  const RegionId main = b.begin("main", {index});
  std::vector<RegionId> regions;
  for (int i = 0; i < branches; ++i) {
    regions.push_back(b.region());
    b.add(regions.back(), "stablehlo.return", {b.constant(regions.back(), ints32({}, {i}))});
  }
  b.end(main, b.add(main, name, {b.arg(main, 0)}, {i32()}, {}, regions));
  return b;
}

TEST(Control, CaseTakesTheLastBranchOutOfRange) {
  const TestProgram b = branching("stablehlo.case", i32(), 3);
  for (auto [index, branch] : {std::pair{0, 0}, {1, 1}, {2, 2}, {3, 2}, {-1, 2}})
    EXPECT_EQ((*b.run("main", {ints32({}, {index})}))[0], ints32({}, {branch})) << index;
}

TEST(Control, IfTakesTheFirstBranchWhenTrue) {
  const TestProgram b = branching("stablehlo.if", i1(), 2);
  EXPECT_EQ((*b.run("main", {scalar_array(Bool(true))}))[0], ints32({}, {0}));
  EXPECT_EQ((*b.run("main", {scalar_array(Bool(false))}))[0], ints32({}, {1}));
  EXPECT_THAT(branching("stablehlo.if", i32(), 2).why("main", {ints32({}, {1})}),
              HasSubstr("[if] I1: the operand must be tensor<i1>, got tensor<i32>"));
}

TEST(Control, CallsAndComposites) {
  TestProgram b;
  const RegionId twice = b.begin("twice", {i32()});
  b.end(twice, b.add(twice, "stablehlo.add", {b.arg(twice, 0), b.arg(twice, 0)}, {i32()}));
  const RegionId main = b.begin("main", {i32()});
  const ValueId x =
      b.add(main, "func.call", {b.arg(main, 0)}, {i32()}, {{"callee", symbol("twice")}})[0];
  b.end(main, b.add(main, "stablehlo.composite", {x}, {i32()},
                    {{"name", Attr{std::string("a.b")}}, {"decomposition", symbol("twice")}}));
  EXPECT_EQ((*b.run("main", {ints32({}, {3})}))[0], ints32({}, {12}));
}

TEST(Control, TuplesNest) {
  TestProgram b;
  const RegionId main = b.begin("main", {f32({2}), i32()});
  const Type inner = Type::tuple({i32(), f32({2})});
  const Type outer = Type::tuple({f32({2}), inner, i32()});
  const ValueId x = b.arg(main, 0), y = b.arg(main, 1);
  const ValueId in = b.add(main, "stablehlo.tuple", {y, x}, {inner})[0];
  ValueId out = b.add(main, "stablehlo.tuple", {x, in, y}, {outer})[0];
  out = b.add(main, "stablehlo.optimization_barrier", {out}, {outer})[0];
  auto element = [&](ValueId of, std::int64_t i, const Type& type) {
    return b.add(main, "stablehlo.get_tuple_element", {of}, {type},
                 {{"index", Attr{Attr::Integer{i, "i32"}}}})[0];
  };
  const ValueId again = element(out, 1, inner);
  b.end(main, {element(again, 1, f32({2})), element(out, 2, i32()), again});
  auto got = b.run("main", {floats32({2}, {1, 2}), ints32({}, {7})});
  ASSERT_TRUE(got.ok()) << got.reason();
  ASSERT_EQ(got->size(), 4u);
  EXPECT_EQ((*got)[0], floats32({2}, {1, 2}));
  EXPECT_EQ((*got)[1], ints32({}, {7}));
  EXPECT_EQ((*got)[2], ints32({}, {7}));
}

TEST(Control, TupleElementsAreInRange) {
  TestProgram b;
  const Type pair = Type::tuple({i32(), i32()});
  const RegionId main = b.begin("main", {pair});
  b.add(main, "stablehlo.get_tuple_element", {b.arg(main, 0)}, {i32()},
        {{"index", Attr{Attr::Integer{2, "i32"}}}});
  b.end(main);
  EXPECT_THAT(b.why("main"), HasSubstr("[get_tuple_element] C1: index 2"));
}

TEST(Control, TokensAndInfeed) {
  TestProgram b;
  const RegionId main = b.begin("main");
  const ValueId token = b.add(main, "stablehlo.create_token", {}, {Type::token()})[0];
  b.add(main, "stablehlo.after_all", {token, token}, {Type::token()});
  b.add(main, "stablehlo.infeed", {token}, {i32(), Type::token()});
  b.end(main);
  EXPECT_THAT(b.why("main"), HasSubstr("[infeed] the infeed queue is empty"));
}

TestProgram custom_call(std::string target, const std::vector<Type>& operands,
                        const std::vector<Type>& results) {
  TestProgram b;
  const RegionId main = b.begin("main", operands);
  std::vector<ValueId> args = b.program.region(main).args;
  b.end(main, b.add(main, "stablehlo.custom_call", args, results,
                    {{"call_target_name", Attr{std::move(target)}}}));
  return b;
}

TEST(Control, CustomCalls) {
  EXPECT_THAT(custom_call("mystery", {i32()}, {i32()}).why("main", {ints32({}, {0})}),
              AllOf(HasSubstr("@mystery"), HasSubstr("check.expect_eq")));
  EXPECT_EQ((*custom_call("Sharding", {i32()}, {i32()}).run("main", {ints32({}, {5})}))[0],
            ints32({}, {5}));
  const TestProgram check = custom_call("check.expect_eq", {i32({2}), i32({2})}, {});
  EXPECT_EQ(check.why("main", {ints32({2}, {1, 2}), ints32({2}, {1, 2})}), "");
  EXPECT_THAT(check.why("main", {ints32({2}, {1, 2}), ints32({2}, {1, 3})}),
              HasSubstr("1 of 2 elements are not equal; the furthest is at [1]: 2 came out, 3"));
  EXPECT_THAT(custom_call("check.expect_eq", {i32()}, {}).why("main", {ints32({}, {0})}),
              HasSubstr("[custom_call]"));
}

TEST(Check, EqualMeansBitsButNotANumberIsOneValue) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(text(compare_equal(floats32({1}, {nan}), floats32({1}, {-nan}))), "");
  EXPECT_NE(text(compare_equal(floats32({1}, {0.0f}), floats32({1}, {-0.0f}))), "");
  EXPECT_NE(text(compare_equal(floats32({1}, {nan}), floats32({1}, {1}))), "");
}

TEST(Check, TheFurthestElementIsNamed) {
  EXPECT_THAT(text(compare_equal(floats32({2, 2}, {1, 2, 3, 4}), floats32({2, 2}, {1, 2.5, 9, 4}))),
              HasSubstr("2 of 4 elements are not equal; the furthest is at [1, 0]: 3 came out, 9"));
}

TEST(Check, CloseCountsUlps) {
  const float x = 1.0f, far = x + 4 * std::numeric_limits<float>::epsilon();
  EXPECT_EQ(text(compare_close(floats32({1}, {x}), floats32({1}, {far}), 0, 4)), "");
  EXPECT_NE(text(compare_close(floats32({1}, {x}), floats32({1}, {far}), 0, 3)), "");
  EXPECT_EQ(text(compare_close(floats32({1}, {0.0f}), floats32({1}, {-0.0f}), 0, 0)), "");
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_NE(text(compare_close(floats32({1}, {inf}), floats32({1}, {3e38f}), 0, 1000)), "");
}

TEST(Check, AlmostEqualIsRelativeAboveOne) {
  EXPECT_EQ(text(compare_almost_equal(floats32({1}, {1000}), floats32({1}, {1000.9f}), 1e-3)), "");
  EXPECT_NE(text(compare_almost_equal(floats32({1}, {1000}), floats32({1}, {1002}), 1e-3)), "");
  EXPECT_EQ(text(compare_almost_equal(floats32({1}, {1e-5f}), floats32({1}, {9e-4f}), 1e-3)), "");
}

TEST(Check, ProbesAreKeptInOrder) {
  TestProgram b;
  const RegionId main = b.begin("main");
  const NamedAttr id{"probe_id", Attr{std::string("p")}};
  const ValueId one = b.constant(main, ints32({}, {1})), two = b.constant(main, ints32({}, {2}));
  b.add(main, "interpreter.probe", {one}, {i32()}, {id});
  b.add(main, "interpreter.probe", {two}, {i32()}, {id});
  auto expect = [&](ValueId v, std::int64_t iter) {
    b.add(main, "check.expect_serialized_eq", {v}, {},
          {id, {"iter", Attr{Attr::Integer{iter, "i32"}}}});
  };
  expect(one, 0);
  expect(two, 1);
  expect(two, 2);
  b.end(main);
  EXPECT_THAT(b.why("main"), HasSubstr("probe \"p\" has 2 values; there is none at 2"));
}

TEST(Check, PrintGoesToTheCaller) {
  TestProgram b;
  const RegionId main = b.begin("main", {i32({2, 1})});
  b.add(main, "interpreter.print", {b.arg(main, 0)});
  b.end(main);
  std::string printed;
  InterpretOptions options;
  options.print = [&](std::string_view text) { printed += text; };
  EXPECT_EQ(b.why("main", {ints32({2, 1}, {1, -2})}, options), "");
  EXPECT_EQ(printed, "tensor<2x1xi32> { [[1], [-2]] }\n");
}

}  // namespace
}  // namespace heddle
