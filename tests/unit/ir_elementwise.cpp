// Elementwise ops: what they give on ordinary and special values, and what their rules refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "one_op.h"

namespace heddle::elementwise_tests {
namespace {

using testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
Array of(std::vector<T> values) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  return make_array<T>(shape, values);
}
Array truths(std::vector<bool> values) {
  std::vector<Bool> bits;
  for (bool v : values) bits.push_back(Bool(v));
  return of(bits);
}
NamedAttr word(std::string name, std::string value) {
  return {name, Attr{Attr::Enum{name, std::move(value)}}};
}

// An op whose result has its operand's type.
Array apply(std::string_view op, std::vector<Array> operands) {
  const Type type = operands[0].type();
  return OneOp{op, std::move(operands), {type}}.value();
}
std::string refused(std::string_view op, std::vector<Array> operands, Type result) {
  return OneOp{op, std::move(operands), {std::move(result)}}.why();
}

// Equal values, and NaN where NaN is expected.
void expect_values(const Array& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.elements(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double x = to_double(got, static_cast<std::int64_t>(i));
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(x)) << i << ": " << x;
    else
      EXPECT_TRUE(x == expected[i] && std::signbit(x) == std::signbit(expected[i]))
          << i << ": " << x << ", expected " << expected[i];
  }
}

TEST(Integers, Wrap) {
  using I = std::int8_t;
  EXPECT_EQ(apply("stablehlo.add", {of<I>({127, -128}), of<I>({1, -1})}), of<I>({-128, 127}));
  EXPECT_EQ(apply("stablehlo.subtract", {of<I>({-128}), of<I>({1})}), of<I>({127}));
  EXPECT_EQ(apply("stablehlo.multiply", {of<I>({16, -128}), of<I>({16, -1})}), of<I>({0, -128}));
  EXPECT_EQ(apply("stablehlo.negate", {of<I>({-128, 5})}), of<I>({-128, -5}));
  EXPECT_EQ(apply("stablehlo.abs", {of<I>({-128, -5})}), of<I>({-128, 5}));
  using U = std::uint16_t;  // whose product would overflow an int
  EXPECT_EQ(apply("stablehlo.multiply", {of<U>({65535}), of<U>({65535})}), of<U>({1}));
}

TEST(Integers, DivideTowardsZero) {
  using I = std::int32_t;
  constexpr I kMin = std::numeric_limits<I>::min();
  EXPECT_EQ(apply("stablehlo.divide", {of<I>({-7, 7, 5, kMin}), of<I>({2, -2, 0, -1})}),
            of<I>({-3, -3, -1, kMin}));
  EXPECT_EQ(apply("stablehlo.remainder", {of<I>({-7, 7, 5, kMin}), of<I>({2, -2, 0, -1})}),
            of<I>({-1, 1, 5, 0}));
  using U = std::uint8_t;
  EXPECT_EQ(apply("stablehlo.divide", {of<U>({200, 9}), of<U>({7, 0})}), of<U>({28, 255}));
}

TEST(Integers, ShiftEverythingOut) {
  using I = std::int8_t;
  EXPECT_EQ(apply("stablehlo.shift_left", {of<I>({1, 1, 1, -1}), of<I>({7, 8, -1, 1})}),
            of<I>({-128, 0, 0, -2}));
  EXPECT_EQ(apply("stablehlo.shift_right_logical", {of<I>({-1, -1, -1}), of<I>({1, 8, -1})}),
            of<I>({127, 0, 0}));
  EXPECT_EQ(apply("stablehlo.shift_right_arithmetic",
                  {of<I>({-128, -128, 64, -5}), of<I>({1, 100, 100, -1})}),
            of<I>({-64, -1, 0, -1}));
  using U = std::uint8_t;
  EXPECT_EQ(apply("stablehlo.shift_right_arithmetic", {of<U>({128}), of<U>({1})}), of<U>({192}));
}

TEST(Integers, TakePowers) {
  using I = std::int64_t;
  EXPECT_EQ(apply("stablehlo.power",
                  {of<I>({-1, -1, -3, 1, -3, 0, 0}), of<I>({-3, -2, -3, INT64_MIN, 3, 0, -1})}),
            of<I>({-1, 1, 0, 1, -27, 1, 0}));
}

TEST(Integers, CountBits) {
  using I = std::int16_t;
  EXPECT_EQ(apply("stablehlo.popcnt", {of<I>({-1, 0, 5})}), of<I>({16, 0, 2}));
  EXPECT_EQ(apply("stablehlo.count_leading_zeros", {of<I>({-1, 0, 5})}), of<I>({0, 16, 13}));
  EXPECT_EQ(apply("stablehlo.not", {of<I>({0, -1})}), of<I>({-1, 0}));
  EXPECT_EQ(apply("stablehlo.sign", {of<I>({-9, 0, 9})}), of<I>({-1, 0, 1}));
}

TEST(TruthValues, AddIsOr) {
  const Array x = truths({false, false, true, true}), y = truths({false, true, false, true});
  EXPECT_EQ(apply("stablehlo.add", {x, y}), truths({false, true, true, true}));
  EXPECT_EQ(apply("stablehlo.multiply", {x, y}), truths({false, false, false, true}));
  EXPECT_EQ(apply("stablehlo.xor", {x, y}), truths({false, true, true, false}));
  EXPECT_EQ(apply("stablehlo.maximum", {x, y}), truths({false, true, true, true}));
  EXPECT_EQ(apply("stablehlo.not", {x}), truths({true, true, false, false}));
}

TEST(Floats, MaximumPropagatesNan) {
  const Array x = of<float>({1, float(kNan), -0.0f, 0.0f}),
              y = of<float>({float(kNan), 2, 0, -0.0f});
  expect_values(apply("stablehlo.maximum", {x, y}), {kNan, kNan, 0.0, 0.0});
  expect_values(apply("stablehlo.minimum", {x, y}), {kNan, kNan, -0.0, -0.0});
}

TEST(Floats, KeepSignsOfZero) {
  const Array x = of<double>({-0.0, 0.0, kNan, -kInf, 0.25});
  expect_values(apply("stablehlo.sign", {x}), {-0.0, 0.0, kNan, -1, 1});
  expect_values(apply("stablehlo.abs", {x}), {0.0, 0.0, kNan, kInf, 0.25});
  expect_values(apply("stablehlo.negate", {x}), {0.0, -0.0, kNan, kInf, -0.25});
  expect_values(apply("stablehlo.ceil", {of<double>({-0.5, 0.5})}), {-0.0, 1.0});
}

TEST(Floats, RoundTies) {
  const Array x = of<float>({-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 0.49999997f, 8388609.0f});
  expect_values(apply("stablehlo.round_nearest_even", {x}), {-2, -2, -0.0, 0, 2, 2, 0, 8388609});
  expect_values(apply("stablehlo.round_nearest_afz", {x}), {-3, -2, -1, 1, 2, 3, 0, 8388609});
}

TEST(Floats, RemainderHasTheSignOfTheDividend) {
  expect_values(apply("stablehlo.remainder",
                      {of<float>({17.5f, -17.5f, 1, 3}), of<float>({3, 3, 0, float(kInf)})}),
                {2.5, -2.5, kNan, 3});
}

TEST(Floats, RoundOncePerOp) {
  const BF16 one(1.0), tiny(std::ldexp(1, -8));
  EXPECT_EQ(apply("stablehlo.add", {of<BF16>({one}), of<BF16>({tiny})}), of<BF16>({one}));
  EXPECT_EQ(apply("stablehlo.multiply", {of<F16>({F16(300)}), of<F16>({F16(300)})}),
            of<F16>({F16(kInf)}));
}

TEST(Floats, PowersFollowTheStandard) {
  expect_values(apply("stablehlo.power",
                      {of<double>({0, -2, -2, 1, -1, 2}), of<double>({0, 3, 0.5, kNan, kInf, -1})}),
                {1, -8, kNan, 1, 1, 0.5});
}

TEST(Functions, HoldInTheTails) {
  expect_values(apply("stablehlo.logistic", {of<double>({0, 800, -kInf, kNan})}),
                {0.5, 1, 0, kNan});
  EXPECT_GT(to_double(apply("stablehlo.logistic", {of<double>({-740})})), 0);
  EXPECT_EQ(to_double(apply("stablehlo.log_plus_one", {of<double>({1e-20})})), 1e-20);
  EXPECT_EQ(to_double(apply("stablehlo.exponential_minus_one", {of<double>({1e-20})})), 1e-20);
  EXPECT_EQ(to_double(apply("stablehlo.sine", {of<double>({M_PI})})), 1.2246467991473532e-16);
  expect_values(apply("stablehlo.rsqrt", {of<float>({4, 0, float(kInf), -1})}),
                {0.5, kInf, 0, kNan});
  expect_values(apply("stablehlo.cbrt", {of<double>({-27, 8})}), {-3, 2});
}

TEST(Complex, NearSpecialPoints) {
  const C128 tiny(1e-20, 1e-18);
  EXPECT_EQ(apply("stablehlo.log_plus_one", {of<C128>({tiny})}), of<C128>({tiny}));
  EXPECT_EQ(apply("stablehlo.exponential_minus_one", {of<C128>({tiny})}), of<C128>({tiny}));
  EXPECT_EQ(apply("stablehlo.power", {of<C128>({{0, 0}, {0, 0}}), of<C128>({{0, 0}, {2, 1}})}),
            of<C128>({{1, 0}, {0, 0}}));
  EXPECT_EQ(apply("stablehlo.sqrt", {of<C64>({{-4, 0}, {3, 4}})}), of<C64>({{0, 2}, {2, 1}}));
  EXPECT_EQ(apply("stablehlo.rsqrt", {of<C64>({{3, 4}})}), of<C64>({{0.4f, -0.2f}}));
  EXPECT_EQ(apply("stablehlo.divide", {of<C128>({{1e300, 1e300}}), of<C128>({{1e300, 1e300}})}),
            of<C128>({{1, 0}}));
  EXPECT_EQ(apply("stablehlo.sign", {of<C128>({{0, 0}, {3, 4}})}), of<C128>({{0, 0}, {0.6, 0.8}}));
}

TEST(Complex, PartsAndOrder) {
  const Array z = of<C64>({{3, -4}, {1, 2}});
  EXPECT_EQ((OneOp{"stablehlo.abs", {z}, {tensor<float>({2})}}.value()),
            of<float>({5, std::sqrt(5.0f)}));
  EXPECT_EQ((OneOp{"stablehlo.real", {z}, {tensor<float>({2})}}.value()), of<float>({3, 1}));
  EXPECT_EQ((OneOp{"stablehlo.imag", {z}, {tensor<float>({2})}}.value()), of<float>({-4, 2}));
  EXPECT_EQ((OneOp{"stablehlo.complex", {of<float>({3, 1}), of<float>({-4, 2})}, {tensor<C64>({2})}}
                 .value()),
            z);
  EXPECT_EQ(apply("stablehlo.maximum", {of<C64>({{1, 7}}), of<C64>({{1, 2}})}), of<C64>({{1, 7}}));
}

Array compare(const Array& x, const Array& y, std::string direction, std::string type = "FLOAT") {
  return OneOp{
      "stablehlo.compare",
      {x, y},
      {Type::tensor(DType::i1, x.shape())},
      {word("comparison_direction", std::move(direction)), word("compare_type", std::move(type))}}
      .value();
}

TEST(Compare, NanAndTotalOrder) {
  const Array x = of<float>({float(kNan), -0.0f, 1, float(-kNan)});
  const Array y = of<float>({float(kNan), 0.0f, 2, float(-kInf)});
  EXPECT_EQ(compare(x, y, "EQ"), truths({false, true, false, false}));
  EXPECT_EQ(compare(x, y, "NE"), truths({true, false, true, true}));
  EXPECT_EQ(compare(x, y, "LT"), truths({false, false, true, false}));
  EXPECT_EQ(compare(x, y, "LT", "TOTALORDER"), truths({false, true, true, true}));
  EXPECT_EQ(compare(x, y, "GE", "TOTALORDER"), truths({true, false, false, false}));
}

TEST(Compare, TypesMustFit) {
  auto why = [](const Array& x, std::string type) {
    return OneOp{"stablehlo.compare",
                 {x, x},
                 {Type::tensor(DType::i1, x.shape())},
                 {word("comparison_direction", "LT"), word("compare_type", std::move(type))}}
        .why();
  };
  EXPECT_THAT(why(of<std::int32_t>({1}), "FLOAT"), HasSubstr("[compare] C3"));
  EXPECT_THAT(why(of<float>({1}), "SIGNED"), HasSubstr("C3"));
  EXPECT_EQ(why(of<float>({1}), "TOTALORDER"), "");
  EXPECT_THAT(refused("stablehlo.compare", {of<float>({1}), of<float>({1})}, tensor<Bool>({1})),
              HasSubstr("comparison_direction"));
}

TEST(Select, TakesAScalarPredicate) {
  const Array x = of<float>({1, 2}), y = of<float>({3, 4});
  EXPECT_EQ((OneOp{"stablehlo.select", {truths({true, false}), x, y}, {x.type()}}.value()),
            of<float>({1, 4}));
  EXPECT_EQ((OneOp{"stablehlo.select", {scalar_array(Bool(false)), x, y}, {x.type()}}.value()), y);
  EXPECT_THAT(refused("stablehlo.select", {truths({true}), x, y}, x.type()), HasSubstr("C1"));
  EXPECT_THAT(refused("stablehlo.select", {truths({true, true}), x, of<double>({1, 2})}, x.type()),
              HasSubstr("C2"));
}

TEST(Clamp, BoundsMayBeScalars) {
  const Array x = of<float>({-3, 0.5f, 9, float(kNan)});
  const Array low = scalar_array(-1.0f), high = scalar_array(1.0f);
  expect_values(OneOp{"stablehlo.clamp", {low, x, high}, {x.type()}}.value(), {-1, 0.5, 1, kNan});
  EXPECT_THAT(refused("stablehlo.clamp", {of<float>({1}), x, high}, x.type()), HasSubstr("C1"));
  EXPECT_THAT(refused("stablehlo.clamp", {scalar_array(1.0), x, high}, x.type()), HasSubstr("C3"));
}

TEST(BitcastConvert, SplitsAndJoinsElements) {
  const Array x = of<std::uint32_t>({0x01020304, 0xff000000});
  const Array bytes = make_array<std::uint8_t>(Shape{2, 4}, {4, 3, 2, 1, 0, 0, 0, 0xff});
  EXPECT_EQ((OneOp{"stablehlo.bitcast_convert", {x}, {bytes.type()}}.value()), bytes);
  EXPECT_EQ((OneOp{"stablehlo.bitcast_convert", {bytes}, {x.type()}}.value()), x);
  const Array bits = truths({true, false, true, false, false, false, false, true});
  EXPECT_EQ((OneOp{"stablehlo.bitcast_convert", {bits}, {tensor<std::uint8_t>({})}}.value()),
            scalar_array<std::uint8_t>(0x85));
  EXPECT_EQ((OneOp{"stablehlo.bitcast_convert", {scalar_array<std::uint8_t>(0x85)}, {bits.type()}}
                 .value()),
            bits);
  EXPECT_THAT(refused("stablehlo.bitcast_convert", {x}, tensor<std::uint8_t>({8})),
              HasSubstr("[bitcast_convert] C1"));
  EXPECT_THAT(refused("stablehlo.bitcast_convert", {of<double>({1})}, tensor<C64>({1})),
              HasSubstr("C2"));
}

Array reduced(const Array& x, std::int64_t exponent, std::int64_t mantissa) {
  return OneOp{"stablehlo.reduce_precision",
               {x},
               {x.type()},
               {whole("exponent_bits", exponent), whole("mantissa_bits", mantissa)}}
      .value();
}

TEST(ReducePrecision, RoundsAndClipsTheRange) {
  const Array x = of<float>({65519, 65520, 1.0f + 1.0f / 2048, std::ldexp(1.0f, -15), float(kNan)});
  expect_values(reduced(x, 5, 10), {65504, kInf, 1, 0, kNan});
  expect_values(reduced(x, 8, 23), {65519, 65520, 1.0f + 1.0f / 2048, std::ldexp(1.0, -15), kNan});
  // With no mantissa bits left, the exponent decides what is even.
  expect_values(reduced(of<double>({1.5, 3, -kInf}), 11, 0), {2, 2, -kInf});
  EXPECT_THAT((OneOp{"stablehlo.reduce_precision",
                     {x},
                     {x.type()},
                     {whole("exponent_bits", 0), whole("mantissa_bits", 1)}}
                   .why()),
              HasSubstr("C2"));
}

TEST(Convert, GoesBetweenAllTypes) {
  for (DType from : all_dtypes())
    for (DType to : all_dtypes()) {
      const Array one = dispatch(from, [](auto tag) {
        using T = typename decltype(tag)::type;
        return of<T>({convert_scalar<T>(1.0)});
      });
      const Array got = OneOp{"stablehlo.convert", {one}, {Type::tensor(to, {1})}}.value();
      EXPECT_EQ(to_double(got), 1) << name(from) << " to " << name(to);
    }
  EXPECT_THAT(refused("stablehlo.convert", {of<float>({1})}, tensor<double>({2})), HasSubstr("C1"));
}

TEST(Rules, RefuseWrongTypes) {
  const Array f = of<float>({1}), i = of<std::int32_t>({1}), u = of<std::uint32_t>({1});
  EXPECT_THAT(refused("stablehlo.add", {f, i}, f.type()), HasSubstr("[add] C1"));
  EXPECT_THAT(refused("stablehlo.add", {f, f}, i.type()), HasSubstr("[add] C1"));
  EXPECT_THAT(refused("stablehlo.add", {f}, f.type()), HasSubstr("[add]"));
  EXPECT_THAT(refused("stablehlo.tanh", {i}, i.type()), HasSubstr("[tanh] I1"));
  EXPECT_THAT(refused("stablehlo.abs", {u}, u.type()), HasSubstr("[abs] I1"));
  EXPECT_THAT(refused("stablehlo.subtract", {truths({true}), truths({true})}, tensor<Bool>({1})),
              HasSubstr("[subtract] I1"));
  EXPECT_THAT(
      refused("stablehlo.complex", {of<F16>({F16(1)}), of<F16>({F16(1)})}, tensor<C64>({1})),
      HasSubstr("f32 or f64"));
  EXPECT_THAT(refused("stablehlo.remainder", {of<C64>({1}), of<C64>({1})}, tensor<C64>({1})),
              HasSubstr("not defined for complex<f32>"));
}

TEST(Splats, StaySplats) {
  const Array x = filled_array(Type::tensor(DType::f32, {1000, 1000}), 2.0f);
  EXPECT_TRUE(apply("stablehlo.sqrt", {x}).is_splat());
  EXPECT_TRUE(apply("stablehlo.multiply", {x, x}).is_splat());
  EXPECT_EQ(to_double(apply("stablehlo.multiply", {x, x}), 999999), 4);
}

}  // namespace
}  // namespace heddle::elementwise_tests
