// The client dialect: special functions, implicit broadcasts, top_k, ragged_dot and scan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ir/eval/special_functions.h"
#include "one_op.h"

namespace heddle::chlo_tests {
namespace {

using I = std::int32_t;
using L = std::int64_t;
using testing::HasSubstr;

const double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
Array of(std::vector<T> values) {
  const Shape shape{static_cast<L>(values.size())};
  return make_array<T>(shape, values);
}
Array apply(std::string_view op, std::vector<Array> operands) {
  const Type type = operands[0].type();
  return OneOp{op, std::move(operands), {type}}.value();
}
double at(std::string_view op, double x) { return to_double(apply(op, {of<double>({x})})); }
double at(std::string_view op, double x, double y) {
  return to_double(apply(op, {of<double>({x}), of<double>({y})}));
}

TEST(SpecialFunctions, KnownValues) {
  EXPECT_DOUBLE_EQ(at("chlo.lgamma", 0.5), 0.57236494292470008707);
  EXPECT_DOUBLE_EQ(at("chlo.lgamma", -1.5), 0.86004701537648101451);
  EXPECT_DOUBLE_EQ(at("chlo.digamma", 1), -0.57721566490153286061);
  EXPECT_DOUBLE_EQ(at("chlo.digamma", -0.5), 0.03648997397857652056);
  EXPECT_DOUBLE_EQ(at("chlo.digamma", 1.4616321449683622), -9.2412655217294275e-17);
  EXPECT_DOUBLE_EQ(at("chlo.erf", 1), 0.84270079294971486934);
  EXPECT_DOUBLE_EQ(at("chlo.erfc", 10), 2.0884875837625447570e-45);
  EXPECT_DOUBLE_EQ(at("chlo.erf_inv", 0.5), 0.47693627620446987338);
  EXPECT_DOUBLE_EQ(at("chlo.erf_inv", -1 + std::ldexp(1, -53)), -5.8635847487551676);
  EXPECT_DOUBLE_EQ(at("chlo.bessel_i1e", 1), 0.20791041534970844887);
  EXPECT_DOUBLE_EQ(at("chlo.bessel_i1e", -100), -0.039744153025130253);
  EXPECT_DOUBLE_EQ(at("chlo.zeta", 2, 1), M_PI * M_PI / 6);
  EXPECT_DOUBLE_EQ(at("chlo.zeta", 2, -0.5), M_PI * M_PI / 2 + 4);
  EXPECT_DOUBLE_EQ(at("chlo.zeta", 2, -1e-20), 1e40);
  EXPECT_DOUBLE_EQ(at("chlo.polygamma", 1, 1), M_PI * M_PI / 6);
  EXPECT_DOUBLE_EQ(at("chlo.polygamma", 2, 1), -2.4041138063191885708);
}

TEST(SpecialFunctions, PolesAndDomains) {
  EXPECT_EQ(at("chlo.lgamma", 0), kInf);
  EXPECT_EQ(at("chlo.lgamma", -3), kInf);
  EXPECT_EQ(at("chlo.lgamma", -kInf), kInf);
  EXPECT_TRUE(std::isnan(at("chlo.digamma", 0)));
  EXPECT_TRUE(std::isnan(at("chlo.digamma", -kInf)));
  EXPECT_EQ(at("chlo.digamma", kInf), kInf);
  EXPECT_EQ(at("chlo.erf_inv", 1), kInf);
  EXPECT_TRUE(std::isnan(at("chlo.erf_inv", 1.5)));
  EXPECT_EQ(at("chlo.bessel_i1e", kInf), 0);
  EXPECT_TRUE(std::isnan(at("chlo.bessel_i1e", kNan)));
  EXPECT_EQ(at("chlo.zeta", 1, 2), kInf);
  EXPECT_TRUE(std::isnan(at("chlo.zeta", 0.5, 2)));
  EXPECT_EQ(at("chlo.zeta", 3, -2), kInf);
  EXPECT_TRUE(std::isnan(at("chlo.zeta", 2.5, -0.5)));
  EXPECT_TRUE(std::isnan(at("chlo.polygamma", 1.5, 2)));
}

TEST(SpecialFunctions, EndForAnyArguments) {
  for (double s : {1.0000001, 2.0, 1e3, 1e300, kInf})
    for (double q : {1e-300, 0.5, 1e3, 1e15, 1e300, kInf, -0.5, -1e15 - 0.5, -1e300}) {
      (void)at("chlo.zeta", s, q);
      (void)at("chlo.polygamma", s, q);
    }
  for (double x : {-1e15 - 0.5, -1e300, 1e-320, 1e300}) (void)at("chlo.digamma", x);
}

TEST(NextAfter, StepsInTheElementType) {
  const Array x = of<F16>({F16(1), F16(0), F16(-0.0), F16(1), F16(65504), F16(kNan)});
  const Array y = of<F16>({F16(2), F16(-1), F16(1), F16(1), F16(kInf), F16(1)});
  const Array got = apply("chlo.next_after", {x, y});
  EXPECT_EQ(read_element<F16>(got, 0).bits, 0x3c01);
  EXPECT_EQ(read_element<F16>(got, 1).bits, 0x8001);
  EXPECT_EQ(read_element<F16>(got, 2).bits, 0x0001);
  EXPECT_EQ(read_element<F16>(got, 3).bits, 0x3c00);
  EXPECT_EQ(read_element<F16>(got, 4).bits, 0x7c00);
  EXPECT_TRUE(std::isnan(to_double(got, 5)));
  EXPECT_EQ(at("chlo.next_after", 1, 0), 1 - std::ldexp(1, -53));
}

TEST(Mulhi, GivesTheHighHalf) {
  EXPECT_EQ(apply("chlo.mulhi", {of<std::int8_t>({64, -64}), of<std::int8_t>({4, 4})}),
            of<std::int8_t>({1, -1}));
  EXPECT_EQ(apply("chlo.mulhi", {of<L>({INT64_MIN, -1, -1}), of<L>({INT64_MIN, -1, 1})}),
            of<L>({L{1} << 62, 0, -1}));
  EXPECT_EQ(apply("chlo.mulhi",
                  {of<std::uint64_t>({~std::uint64_t{0}}), of<std::uint64_t>({~std::uint64_t{0}})}),
            of<std::uint64_t>({~std::uint64_t{1}}));
}

TEST(Infinities, AreToldApart) {
  const Array x = of<float>({float(kInf), float(-kInf), 1, float(kNan)});
  auto ask = [&](std::string_view op) {
    std::string text;
    const Array got = OneOp{op, {x}, {tensor<Bool>({4})}}.value();
    for (L i = 0; i < 4; ++i) text += to_bool(got, i) ? '1' : '0';
    return text;
  };
  EXPECT_EQ(ask("chlo.is_inf"), "1100");
  EXPECT_EQ(ask("chlo.is_pos_inf"), "1000");
  EXPECT_EQ(ask("chlo.is_neg_inf"), "0100");
}

TEST(Complex, ConjugatesAndSquares) {
  const Array z = of<C64>({{1, 2}, {3, -4}});
  EXPECT_EQ(apply("chlo.conj", {z}), of<C64>({{1, -2}, {3, 4}}));
  EXPECT_EQ(apply("chlo.square", {z}), of<C64>({{-3, 4}, {-7, -24}}));
}

TEST(Broadcast, LinesUpFromTheRight) {
  const Array x = make_array<I>(Shape{2, 1}, {10, 20}), y = of<I>({1, 2, 3});
  EXPECT_EQ((OneOp{"chlo.broadcast_add", {x, y}, {tensor<I>({2, 3})}}.value()),
            make_array<I>(Shape{2, 3}, {11, 12, 13, 21, 22, 23}));
  EXPECT_EQ((OneOp{"chlo.broadcast_subtract", {scalar_array<I>(1), y}, {y.type()}}.value()),
            of<I>({0, -1, -2}));
  EXPECT_EQ((OneOp{"chlo.broadcast_multiply",
                   {make_array<I>(Shape{2, 2}, {1, 2, 3, 4}), of<I>({10, 100})},
                   {tensor<I>({2, 2})},
                   {ints("broadcast_dimensions", {0})}}
                 .value()),
            make_array<I>(Shape{2, 2}, {10, 20, 300, 400}));
  EXPECT_THAT((OneOp{"chlo.broadcast_add", {x, y}, {tensor<I>({2, 4})}}.why()),
              HasSubstr("[broadcast_add]"));
  EXPECT_THAT((OneOp{"chlo.broadcast_add", {y, y}, {tensor<I>({1})}}.why()),
              HasSubstr("[broadcast_add]"));
}

// Negative NaN is below everything, as JAX has it, and NaN of one sign by their bits.
TEST(TopK, IsInTotalOrder) {
  const auto nan = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  const Array x =
      make_array<float>(Shape{10}, {1, nan(0x7fc00000), -float(kInf), nan(0xffc00000), 0, -0.0F,
                                    float(kInf), -3, nan(0xffc00001), nan(0x7fc00001)});
  const OneOp op{"chlo.top_k", {x}, {tensor<float>({10}), tensor<I>({10})}, {whole("k", 10)}};
  EXPECT_EQ(op.run().value()[1], of<I>({9, 1, 6, 0, 4, 5, 7, 2, 3, 8}));
}

TEST(TopK, IsStableAndPutsNanFirst) {
  const Array x = make_array<float>(Shape{2, 3}, {1, 3, 3, -1, float(kNan), 2});
  const OneOp op{"chlo.top_k", {x}, {tensor<float>({2, 2}), tensor<I>({2, 2})}, {whole("k", 2)}};
  const auto got = op.run().value();
  EXPECT_EQ(got[1], make_array<I>(Shape{2, 2}, {1, 2, 1, 2}));
  EXPECT_EQ(to_double(got[0], 0), 3);
  EXPECT_EQ(to_double(got[0], 3), 2);
  EXPECT_THAT((OneOp{"chlo.top_k", {x}, op.results, {whole("k", 4)}}.why()), HasSubstr("k is 4"));
}

OneOp ragged(Array lhs, Array rhs, Array sizes, Type result, std::vector<L> sum,
             std::vector<L> rhs_sum, L ragged_dim, std::vector<L> group) {
  Attr::Struct dims{"ragged_dot", {}};
  dims.fields = {ints("lhs_batching_dimensions", {}),
                 ints("rhs_batching_dimensions", {}),
                 ints("lhs_contracting_dimensions", std::move(sum)),
                 ints("rhs_contracting_dimensions", std::move(rhs_sum)),
                 ints("lhs_ragged_dimensions", {ragged_dim}),
                 ints("rhs_group_dimensions", std::move(group))};
  return {"chlo.ragged_dot",
          {std::move(lhs), std::move(rhs), std::move(sizes)},
          {std::move(result)},
          {{"ragged_dot_dimension_numbers", Attr{dims}}}};
}

TEST(RaggedDot, GroupsRows) {
  const Array lhs = make_array<I>(Shape{3, 1}, {1, 2, 3});
  const Array rhs = make_array<I>(Shape{2, 1, 1}, {10, 100});
  // The last row is in no group.
  EXPECT_EQ(ragged(lhs, rhs, of<I>({1, 1}), tensor<I>({3, 1}), {1}, {1}, 0, {0}).value(),
            make_array<I>(Shape{3, 1}, {10, 200, 0}));
  EXPECT_THAT(ragged(lhs, rhs, of<I>({1, 1, 1}), tensor<I>({3, 1}), {1}, {1}, 0, {0}).why(),
              HasSubstr("[ragged_dot] group_sizes"));
}

TEST(RaggedDot, GroupsTheContraction) {
  const Array lhs = make_array<I>(Shape{1, 3}, {1, 2, 3});
  const Array rhs = make_array<I>(Shape{3, 1}, {10, 100, 1000});
  EXPECT_EQ(ragged(lhs, rhs, of<I>({2, 1}), tensor<I>({2, 1, 1}), {1}, {0}, 1, {}).value(),
            make_array<I>(Shape{2, 1, 1}, {210, 3000}));
}

OneOp sums(Array x, bool reverse) {
  return {"chlo.scan",
          {x, scalar_array<I>(0)},
          {x.type(), tensor<I>({})},
          {whole("dimension", 0), {"is_reverse", Attr{reverse}}},
          [](Program& p, RegionId body) {
            const TypeId scalar = p.intern(tensor<I>({}));
            const ValueId args[] = {p.add_arg(body, scalar), p.add_arg(body, scalar)};
            const TypeId types[] = {scalar};
            const OpId sum = p.add_op(body, *find_op("stablehlo.add"), args, types);
            const ValueId both[] = {p.result(p.op(sum), 0), p.result(p.op(sum), 0)};
            p.add_op(body, *find_op("stablehlo.return"), both, {});
          }};
}

TEST(Scan, RunsBothWays) {
  const Array x = of<I>({1, 2, 3, 4});
  auto forward = sums(x, false).run().value();
  EXPECT_EQ(forward[0], of<I>({1, 3, 6, 10}));
  EXPECT_EQ(forward[1], scalar_array<I>(10));
  EXPECT_EQ(sums(x, true).value(), of<I>({10, 9, 7, 4}));
  OneOp wrong = sums(x, false);
  wrong.attrs[0] = whole("dimension", 1);
  EXPECT_THAT(wrong.why(), HasSubstr("[scan] dimension 1"));
}

}  // namespace
}  // namespace heddle::chlo_tests
