// Lowered client ops give what the interpreter gives for the ops themselves.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "heddle/lower.h"
#include "ir/eval/check.h"
#include "ir_build.h"

namespace heddle::lower_tests {
namespace {

const double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

// A program of one op.
struct One {
  std::string_view name;
  std::vector<Array> operands;
  std::vector<Type> results;
  AttrDict attrs = {};
  std::function<RegionId(Builder&)> region = {};

  Program program() const {
    Builder b;
    std::vector<Type> types;
    for (const Array& a : operands) types.push_back(a.type());
    b.function("main", types, [&](const Vars& in) {
      std::vector<RegionId> regions;
      if (region) regions.push_back(region(b));
      return b.ops(name, in, results, attrs, regions);
    });
    return b.finish().value();
  }
  static std::vector<Array> run(const Program& program, const std::vector<Array>& operands) {
    return interpret(program, *program.find_function("main"), operands).value();
  }
};

std::size_t client_ops(const Program& program) {
  std::size_t n = 0;
  for (OpId id = 0; id < program.op_count(); ++id)
    n += program.op(id).def->name.starts_with("chlo");
  return n;
}

// All results within so many units in the last place; 0: equal bits.
void expect_same(const One& one, std::uint64_t ulps = 0) {
  const Program before = one.program();
  const auto after = lower_chlo(before);
  ASSERT_TRUE(after.ok()) << after.reason();
  EXPECT_EQ(client_ops(*after), 0u) << one.name;
  const auto expected = One::run(before, one.operands), got = One::run(*after, one.operands);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Verdict same = ulps == 0 ? compare_equal(got[i], expected[i])
                                   : compare_close(got[i], expected[i], 0, ulps);
    EXPECT_TRUE(same.ok()) << one.name << " of " << one.operands[0].type().str() << ": "
                           << (same ? "" : same.reason());
  }
}

template <typename T>
Array of(const std::vector<double>& values) {
  std::vector<T> rounded;
  for (double v : values) rounded.push_back(static_cast<T>(v));
  return make_array<T>(Shape{static_cast<std::int64_t>(values.size())}, rounded);
}

std::vector<double> normal_numbers(int n, double scale) {
  std::mt19937 bits(7);
  std::vector<double> values;
  // Sums of uniform numbers: the same on every machine, unlike std::normal_distribution.
  for (int i = 0; i < n; ++i) {
    double sum = -6;
    for (int j = 0; j < 12; ++j) sum += bits() * 0x1p-32;
    values.push_back(sum * scale);
  }
  return values;
}

std::vector<double> arguments(std::string_view name) {
  std::vector<double> values = normal_numbers(60, name == "chlo.acosh" ? 20 : 0.4);
  for (double v : normal_numbers(60, name == "chlo.atanh" || name == "chlo.erf_inv" ? 0.2 : 5))
    values.push_back(v);
  for (double v : {0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 1e-6, -1e-6, 30.0, 100.0, kInf, -kInf, kNan})
    values.push_back(v);
  // Close to where atanh and erf_inv end, both formulas of the latter among it.
  for (int k = 1; k <= 24; ++k)
    for (double sign : {-1.0, 1.0}) values.push_back(sign * (1 - std::ldexp(1.0, -k)));
  return values;
}

constexpr std::string_view kFunctions[] = {
    "chlo.acos",       "chlo.acosh",   "chlo.asin", "chlo.asinh",   "chlo.atan", "chlo.atanh",
    "chlo.bessel_i1e", "chlo.digamma", "chlo.erf",  "chlo.erf_inv", "chlo.erfc", "chlo.lgamma",
    "chlo.cosh",       "chlo.sinh",    "chlo.tan",  "chlo.square",  "chlo.conj"};

template <typename T>
void expect_functions(std::uint64_t ulps) {
  for (std::string_view name : kFunctions) {
    const Array x = of<T>(arguments(name));
    expect_same({name, {x}, {x.type()}}, ulps);
  }
}

// Computed in f64, rounded once: nearly always the same bits.
TEST(Lower, FunctionsOfNarrowNumbers) {
  expect_functions<float>(1);
  expect_functions<F16>(1);
  expect_functions<BF16>(1);
}

// f64 has no wider type to compute in: around roots at negative arguments some places are lost.
TEST(Lower, FunctionsOfWideNumbers) { expect_functions<double>(64); }

TEST(Lower, FunctionsOfTwoNumbers) {
  std::vector<double> n, x;
  for (double order : {0.0, 1.0, 2.0, 5.0, 20.0, 171.0, 1.5, -1.0, kNan})
    for (double at : {0.3, 1.0, 2.5, 17.0, 200.0, -0.5, -2.25, -3.0, 0.0, kInf, kNan}) {
      n.push_back(order);
      x.push_back(at);
    }
  for (std::string_view name : {"chlo.zeta", "chlo.polygamma"}) {
    expect_same({name, {of<float>(n), of<float>(x)}, {of<float>(n).type()}}, 1);
    expect_same({name, {of<double>(n), of<double>(x)}, {of<double>(n).type()}}, 1000);
  }
}

TEST(Lower, ComplexFunctions) {
  const auto re = normal_numbers(80, 1.5);
  std::vector<C64> narrow;
  std::vector<C128> wide;
  for (std::size_t i = 0; i + 1 < re.size(); ++i) {
    narrow.emplace_back(static_cast<float>(re[i]), static_cast<float>(re[i + 1]));
    wide.emplace_back(re[i], re[i + 1]);
  }
  const Shape shape{static_cast<std::int64_t>(narrow.size())};
  for (std::string_view name :
       {"chlo.acos", "chlo.acosh", "chlo.asin", "chlo.asinh", "chlo.atan", "chlo.atanh",
        "chlo.cosh", "chlo.sinh", "chlo.tan", "chlo.square", "chlo.conj"}) {
    const Array x = make_array<C64>(shape, narrow), y = make_array<C128>(shape, wide);
    expect_same({name, {x}, {x.type()}}, 1);
    expect_same({name, {y}, {y.type()}}, 16);
  }
}

// Near the ends of its cuts on both sides, and where squares are no longer numbers.
TEST(Lower, ComplexAreaTangent) {
  std::vector<C64> narrow;
  std::vector<C128> wide;
  for (double re : {-1e30, -1e9, -300.0, -1.5, -1 - 1e-6, -0.999, -0.3, 0.3, 0.999, 1.5, 1e30})
    for (double im : {-1e30, -1e-3, 1e-6, 0.5, 1e9}) {
      narrow.emplace_back(static_cast<float>(re), static_cast<float>(im));
      wide.emplace_back(re, im);
    }
  const Shape shape{static_cast<std::int64_t>(narrow.size())};
  for (std::string_view name : {"chlo.atan", "chlo.atanh"}) {
    const Array x = make_array<C64>(shape, narrow), y = make_array<C128>(shape, wide);
    expect_same({name, {x}, {x.type()}}, 1);
    expect_same({name, {y}, {y.type()}}, 16);
  }
  // Beyond numbers that have squares only the imaginary part counts.
  const Array far = make_array<C128>({2}, std::vector<C128>{{-1e200, 1.0}, {3.0, -1e300}});
  Builder to;
  to.function("main", {far.type()},
              [&](const Vars& in) -> Vars { return {to.op("chlo.atanh", {in[0]})}; });
  const Program after = lower_chlo(to.finish().value()).value();
  const Array result = One::run(after, {far})[0];
  const C128* got = reinterpret_cast<const C128*>(result.bytes().data());
  EXPECT_NEAR(got[0].real(), 0, 1e-140);
  EXPECT_DOUBLE_EQ(got[0].imag(), std::numbers::pi / 2);
  EXPECT_NEAR(got[1].real(), 0, 1e-140);
  EXPECT_DOUBLE_EQ(got[1].imag(), -std::numbers::pi / 2);
}

TEST(Lower, TotalOrderBecomesAnOrderOfIntegers) {
  std::vector<double> x, y;
  for (double a : {-kNan, -kInf, -2.0, -0.0, 0.0, 1e-3, 2.0, kInf, kNan})
    for (double b : {-kNan, -kInf, -2.0, -0.0, 0.0, 1e-3, 2.0, kInf, kNan}) {
      x.push_back(a);
      y.push_back(b);
    }
  const auto check = [&](const Array& a, const Array& b) {
    for (std::string_view direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
      Builder to;
      to.function("main", {a.type(), b.type()}, [&](const Vars& in) -> Vars {
        return {to.compare(direction, in[0], in[1], "TOTALORDER")};
      });
      const Program before = to.finish().value(), after = lower_chlo(before).value();
      EXPECT_GT(after.op_count(), before.op_count());
      EXPECT_EQ(One::run(after, {a, b}), One::run(before, {a, b})) << direction;
    }
  };
  check(of<float>(x), of<float>(y));
  check(of<double>(x), of<double>(y));
  check(of<BF16>(x), of<BF16>(y));
}

TEST(Lower, PowersOfSmallHalves) {
  std::vector<double> values = normal_numbers(100, 3);
  for (double v : {0.0, -0.0, 1.0, -1.0, kInf, -kInf, kNan, 1e-30, -1e-30, 1e30, 3e38, 1e-42})
    values.push_back(v);
  const auto check = [&](const Array& x, double exponent, std::uint64_t ulps, bool changes) {
    Builder b;
    b.function("main", {x.type()}, [&](const Vars& in) -> Vars {
      return {b.op("power", {in[0], b.full_like(in[0], exponent)})};
    });
    const Program before = b.finish().value(), after = lower_chlo(before).value();
    EXPECT_EQ(after.op_count() > before.op_count(), changes) << exponent;
    const Verdict same = compare_close(One::run(after, {x})[0], One::run(before, {x})[0], 0, ulps);
    EXPECT_TRUE(same) << exponent << ": " << (same ? "" : same.reason());
  };
  for (double twice = -9; twice <= 9; ++twice) {
    const bool changes = twice != 0 && std::abs(twice) <= 8;
    check(of<float>(values), twice / 2, 1, changes);
    check(of<BF16>(values), twice / 2, 1, changes);
    check(of<double>(values), twice / 2, 0, false);
  }
  check(of<float>(values), 1.25, 0, false);
}

TEST(Lower, NextAfterAndInfinities) {
  const std::vector<double> x{1, 0, -0.0, 1, 448, kNan, -1, 3, kInf, -kInf, 0x1p-14, 0, 1},
      y{2, -1, 1, 1, kInf, 1, 2, -kInf, 0, 0, 0, -0.0, kNan};
  auto check = [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Array a = of<T>(x), b = of<T>(y);
    expect_same({"chlo.next_after", {a, b}, {a.type()}});
    for (std::string_view name : {"chlo.is_inf", "chlo.is_pos_inf", "chlo.is_neg_inf"})
      expect_same({name, {a}, {Type::tensor(DType::i1, a.shape())}});
  };
  check(Tag<double>{});
  check(Tag<float>{});
  check(Tag<F16>{});
  check(Tag<BF16>{});
  check(Tag<F8E5M2>{});
  check(Tag<F8E4M3FN>{});
}

TEST(Lower, NextAfterOfOddFormatsStays) {
  const Array x = of<F8E4M3FNUZ>({1, -1});
  const auto after = lower_chlo(One{"chlo.next_after", {x, x}, {x.type()}}.program());
  ASSERT_TRUE(after.ok()) << after.reason();
  EXPECT_EQ(client_ops(*after), 1u);
}

TEST(Lower, Mulhi) {
  auto check = [](auto tag) {
    using T = typename decltype(tag)::type;
    const T top = std::numeric_limits<T>::max(), low = std::numeric_limits<T>::min();
    std::vector<T> x, y;
    for (T a : {top, low, T(1), T(0), static_cast<T>(-1), static_cast<T>(top / 3)})
      for (T b : {top, low, T(3), static_cast<T>(-2), static_cast<T>(top / 7)}) {
        x.push_back(a);
        y.push_back(b);
      }
    const Array a = make_array<T>(Shape{30}, x), b = make_array<T>(Shape{30}, y);
    expect_same({"chlo.mulhi", {a, b}, {a.type()}});
  };
  check(Tag<std::int8_t>{});
  check(Tag<std::uint16_t>{});
  check(Tag<std::int32_t>{});
  check(Tag<std::uint32_t>{});
  check(Tag<std::int64_t>{});
  check(Tag<std::uint64_t>{});
}

TEST(Lower, Broadcasts) {
  const Array x = floats32({2, 1}, {1, 2}), y = floats32({3}, {3, 4, 5});
  for (std::string_view name : {"chlo.broadcast_add", "chlo.broadcast_power"})
    expect_same({name, {x, y}, {f32({2, 3})}});
  expect_same({"chlo.broadcast_subtract",
               {floats32({2}, {1, 2}), floats32({2, 3}, {1, 2, 3, 4, 5, 6})},
               {f32({2, 3})},
               {{"broadcast_dimensions", Attr{Attr::Integers{0}}}}});
}

TEST(Lower, TopK) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Array x = floats32({2, 5}, {1, -0.0f, 0, 1, -nan, 5, nan, 2, -1, 5});
  const AttrDict k{{"k", Attr{Attr::Integer{3}}}};
  expect_same({"chlo.top_k", {x}, {f32({2, 3}), i32({2, 3})}, k});
  expect_same({"chlo.top_k", {ints32({4}, {3, 9, 3, -1})}, {i32({3}), i32({3})}, k});
}

Attr ragged(Attr::Integers lhs_batch, Attr::Integers rhs_batch, std::int64_t lhs_sum,
            std::int64_t rhs_sum, std::int64_t ragged, Attr::Integers group) {
  return Attr{Attr::Struct{"ragged_dot",
                           {{"lhs_batching_dimensions", Attr{std::move(lhs_batch)}},
                            {"rhs_batching_dimensions", Attr{std::move(rhs_batch)}},
                            {"lhs_contracting_dimensions", Attr{Attr::Integers{lhs_sum}}},
                            {"rhs_contracting_dimensions", Attr{Attr::Integers{rhs_sum}}},
                            {"lhs_ragged_dimensions", Attr{Attr::Integers{ragged}}},
                            {"rhs_group_dimensions", Attr{std::move(group)}}}}};
}

Array counting(Shape shape) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < f32(shape).elements(); ++i)
    values.push_back(static_cast<float>((i * 7) % 11 - 5));
  return floats32(std::move(shape), values);
}

TEST(Lower, RaggedDotByRows) {
  Array weights = counting({3, 4, 2});
  weights.as_mutable<float>()[0] = std::numeric_limits<float>::infinity();  // of group 0 only
  const std::string_view name = "chlo.ragged_dot";
  const std::string key = "ragged_dot_dimension_numbers";
  for (const std::vector<int>& sizes :
       {std::vector{2, 0, 3}, std::vector{1, 1, 1}, std::vector{9, -1, 2}})
    expect_same({name,
                 {counting({6, 4}), weights, ints32({3}, sizes)},
                 {f32({6, 2})},
                 {{key, ragged({}, {}, 1, 1, 0, {0})}}});
  // With a batch, and the group dimension last.
  expect_same({name,
               {counting({2, 5, 4}), counting({2, 4, 3, 2}), ints32({2}, {2, 2})},
               {f32({2, 5, 3})},
               {{key, ragged({0}, {0}, 2, 1, 1, {3})}}});
}

TEST(Lower, RaggedDotByTermsAndBatches) {
  const std::string key = "ragged_dot_dimension_numbers";
  expect_same({"chlo.ragged_dot",
               {counting({2, 3, 6}), counting({2, 6, 4}), ints32({3}, {2, 1, 2})},
               {f32({3, 2, 3, 4})},
               {{key, ragged({0}, {0}, 2, 1, 2, {})}}});
  expect_same({"chlo.ragged_dot",
               {counting({4, 3, 2}), counting({4, 2, 5}), ints32({2}, {2, 1})},
               {f32({4, 3, 5})},
               {{key, ragged({0}, {0}, 2, 1, 0, {})}}});
}

TEST(Lower, ScanBothWays) {
  for (bool reverse : {false, true})
    expect_same({"chlo.scan",
                 {counting({2, 5}), floats32({2}, {100, 200})},
                 {f32({2, 5}), f32({2})},
                 {{"dimension", Attr{Attr::Integer{1}}}, {"is_reverse", Attr{reverse}}},
                 [](Builder& b) {
                   // An op of the client dialect inside the body is lowered too.
                   return b.region({f32({2}), f32({2})}, [&](const Vars& in) -> Vars {
                     const Var sum = in[1] + b.op("chlo.square", {in[0]});
                     return {sum, sum * 0.5};
                   });
                 }});
}

TEST(Lower, ScansThatSumUpAreWindows) {
  for (const bool reverse : {false, true})
    for (const char* combiner : {"stablehlo.add", "stablehlo.maximum", "stablehlo.multiply"})
      for (const float start : {0.f, 3.f}) {
        const Array begin = floats32({2}, {start, start});
        const auto body = [&](Builder& b) {
          return b.region({f32({2}), f32({2})}, [&](const Vars& in) -> Vars {
            const Var sum = b.op(combiner, {in[0], in[1]});
            return {sum, sum};
          });
        };
        expect_same({"chlo.scan",
                     {counting({2, 5}), begin},
                     {f32({2, 5}), f32({2})},
                     {{"dimension", Attr{Attr::Integer{1}}},
                      {"is_reverse", Attr{reverse}},
                      {"is_associative", Attr{true}}},
                     body});
      }
}

TEST(Lower, KeepsPlaces) {
  Builder b;
  b.program.file = "m.mlir";
  b.function("main", {f32({2})}, [&](const Vars& in) -> Vars {
    b.at(Location{4, 7, "model.py:9"});
    return {b.op("chlo.erf", in)};
  });
  const Program after = lower_chlo(b.finish().value()).value();
  ASSERT_GT(after.op_count(), 10u);
  for (OpId id = 0; id < after.op_count(); ++id) {
    EXPECT_EQ(after.where(after.op(id).loc), "m.mlir:4:7");
    EXPECT_EQ(after.location(after.op(id).loc).user, "model.py:9");
  }
}

}  // namespace
}  // namespace heddle::lower_tests
