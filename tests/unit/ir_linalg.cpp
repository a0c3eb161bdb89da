// Transforms, solvers, normalisation and random numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "one_op.h"

namespace heddle::linalg_tests {
namespace {

using L = std::int64_t;
using U = std::uint64_t;
using testing::HasSubstr;

template <typename T>
Array of(Shape shape, std::vector<T> values) {
  return make_array<T>(std::move(shape), values);
}
NamedAttr word(std::string name, std::string value) {
  return {name, Attr{Attr::Enum{name, std::move(value)}}};
}
NamedAttr flag(std::string name, bool value) { return {std::move(name), Attr{value}}; }

void expect_near(const Array& got, const std::vector<double>& expected, double tolerance = 1e-6) {
  ASSERT_EQ(got.elements(), static_cast<L>(expected.size()));
  for (L i = 0; i < got.elements(); ++i)
    EXPECT_NEAR(to_double(got, i), expected[static_cast<std::size_t>(i)], tolerance) << i;
}

OneOp fft(Array operand, Type result, std::string kind, std::vector<L> lengths) {
  return {"stablehlo.fft",
          {std::move(operand)},
          {std::move(result)},
          {word("fft_type", std::move(kind)), ints("fft_length", std::move(lengths))}};
}

TEST(Fft, TransformsForwardAndBack) {
  const Array x = of<C128>({4}, {{1, 0}, {2, 0}, {3, 0}, {4, 0}});
  const Array f = fft(x, tensor<C128>({4}), "FFT", {4}).value();
  EXPECT_EQ(f, of<C128>({4}, {{10, 0}, {-2, 2}, {-2, 0}, {-2, -2}}));
  EXPECT_EQ(fft(f, tensor<C128>({4}), "IFFT", {4}).value(), x);
}

TEST(Fft, TakesAnyLength) {
  for (L n : {1, 2, 3, 5, 6, 7, 12, 30, 97}) {
    std::vector<C128> values;
    for (L i = 0; i < n; ++i)
      values.emplace_back(std::sin(static_cast<double>(i * i)), static_cast<double>(i % 3));
    const Array got = fft(of<C128>({n}, values), tensor<C128>({n}), "FFT", {n}).value();
    for (L k = 0; k < n; ++k) {
      C128 sum = 0;
      for (L i = 0; i < n; ++i)
        sum += values[static_cast<std::size_t>(i)] *
               std::polar(1.0, -2 * M_PI * static_cast<double>(i * k % n) / static_cast<double>(n));
      EXPECT_LT(std::abs(read_element<C128>(got, k) - sum), 1e-11) << n << " " << k;
    }
  }
}

TEST(Fft, KeepsHalfOfARealSpectrum) {
  const Array x = of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Array f = fft(x, tensor<C64>({2, 2}), "RFFT", {2, 3}).value();
  const C64 first = read_element<C64>(f, 0), second = read_element<C64>(f, 1);
  EXPECT_EQ(first, C64(21, 0));
  EXPECT_NEAR(second.real(), -3, 1e-6);
  EXPECT_NEAR(second.imag(), std::sqrt(3.0), 1e-6);
  expect_near(fft(f, tensor<float>({2, 3}), "IRFFT", {2, 3}).value(), {1, 2, 3, 4, 5, 6});
}

TEST(Fft, RefusesWhatDoesNotFit) {
  const Array x = of<float>({4}, {1, 2, 3, 4});
  EXPECT_THAT(fft(x, tensor<C64>({3}), "RFFT", {4, 4}).why(), HasSubstr("[fft] C1"));
  EXPECT_THAT(fft(x, tensor<C128>({3}), "RFFT", {4}).why(), HasSubstr("[fft] C2"));
  EXPECT_THAT(fft(x, tensor<C64>({3}), "RFFT", {}).why(), HasSubstr("[fft] C3"));
  EXPECT_THAT(fft(x, tensor<C64>({3}), "RFFT", {3}).why(), HasSubstr("[fft] C4"));
  EXPECT_THAT(fft(x, tensor<C64>({4}), "RFFT", {4}).why(), HasSubstr("[fft] C5"));
  EXPECT_THAT(fft(x, tensor<C64>({3}), "DCT", {4}).why(), HasSubstr("[fft]"));
}

OneOp solve(Array a, Array b, bool left, bool lower, bool unit, std::string transpose) {
  const Type type = b.type();
  return {"stablehlo.triangular_solve",
          {std::move(a), std::move(b)},
          {type},
          {flag("left_side", left), flag("lower", lower), flag("unit_diagonal", unit),
           word("transpose_a", std::move(transpose))}};
}

TEST(TriangularSolve, SolvesOnBothSides) {
  // The other triangle holds a 9 that must not be read.
  const Array lower = of<float>({2, 2}, {2, 9, 1, 4}), upper = of<float>({2, 2}, {2, 1, 9, 4});
  const Array column = of<float>({2, 1}, {4, 10}), row = of<float>({1, 2}, {4, 10});
  expect_near(solve(lower, column, true, true, false, "NO_TRANSPOSE").value(), {2, 2});
  expect_near(solve(upper, column, true, false, false, "NO_TRANSPOSE").value(), {0.75, 2.5});
  expect_near(solve(lower, column, true, true, false, "TRANSPOSE").value(), {0.75, 2.5});
  expect_near(solve(upper, column, true, false, false, "TRANSPOSE").value(), {2, 2});
  expect_near(solve(lower, row, false, true, false, "NO_TRANSPOSE").value(), {0.75, 2.5});
  expect_near(solve(lower, row, false, true, false, "TRANSPOSE").value(), {2, 2});
  expect_near(solve(lower, column, true, true, true, "NO_TRANSPOSE").value(), {4, 6});
}

TEST(TriangularSolve, ConjugatesForTheAdjoint) {
  const Array a = of<C64>({1, 1}, {{0, 2}}), b = of<C64>({1, 1}, {{4, 0}});
  auto x = [&](std::string transpose) {
    return read_element<C64>(solve(a, b, true, true, false, std::move(transpose)).value(), 0);
  };
  EXPECT_EQ(x("ADJOINT"), C64(0, 2));
  EXPECT_EQ(x("TRANSPOSE"), C64(0, -2));
}

TEST(TriangularSolve, GoesThroughBatchesAndZeros) {
  const Array a = of<F16>({2, 1, 1}, {F16(2), F16(0)});
  const Array b = of<F16>({2, 1, 2}, {F16(4), F16(6), F16(1), F16(0)});
  const Array x = solve(a, b, true, true, false, "NO_TRANSPOSE").value();
  EXPECT_EQ(to_double(x, 1), 3);
  EXPECT_TRUE(std::isinf(to_double(x, 2)));
  EXPECT_TRUE(std::isnan(to_double(x, 3)));
}

TEST(TriangularSolve, RefusesWhatDoesNotFit) {
  const Array a = of<float>({2, 2}, {1, 2, 3, 4});
  auto why = [](Array a, Array b) {
    return solve(std::move(a), std::move(b), true, true, false, "NO_TRANSPOSE").why();
  };
  EXPECT_THAT(why(a, of<double>({2, 1}, {1, 2})), HasSubstr("[triangular_solve] C1"));
  EXPECT_THAT(why(a, of<float>({2}, {1, 2})), HasSubstr("[triangular_solve] C2"));
  EXPECT_THAT(why(a, of<float>({3, 1}, {1, 2, 3})), HasSubstr("[triangular_solve] C3"));
  EXPECT_THAT(why(of<float>({1, 2}, {1, 2}), of<float>({1, 1}, {1})),
              HasSubstr("[triangular_solve] C3"));
}

TEST(Cholesky, FactorisesEitherTriangle) {
  // [[4, 2-2i], [2+2i, 6]] = l lᴴ with l = [[2, 0], [1+i, 2]].
  const Array a = of<C64>({2, 2}, {{4, 0}, {2, -2}, {2, 2}, {6, 0}});
  auto run = [&](bool lower) {
    return OneOp{"stablehlo.cholesky", {a}, {a.type()}, {flag("lower", lower)}}.value();
  };
  EXPECT_EQ(run(true), of<C64>({2, 2}, {{2, 0}, {0, 0}, {1, 1}, {2, 0}}));
  EXPECT_EQ(run(false), of<C64>({2, 2}, {{2, 0}, {1, -1}, {0, 0}, {2, 0}}));
}

TEST(Cholesky, GivesNanWhereThereIsNoFactor) {
  const Array a = of<float>({1, 1}, {-1});
  const Array got = OneOp{"stablehlo.cholesky", {a}, {a.type()}, {flag("lower", true)}}.value();
  EXPECT_TRUE(std::isnan(to_double(got)));
  EXPECT_THAT(
      (OneOp{"stablehlo.cholesky", {of<float>({1, 2}, {1, 2})}, {tensor<float>({1, 2})}}.why()),
      HasSubstr("[cholesky] C3"));
}

AttrDict norm_attrs(L axis) {
  return {{"epsilon", Attr{Attr::Float{0.0, "f32"}}}, whole("feature_index", axis)};
}

TEST(BatchNorm, NormalisesWithGivenStatistics) {
  const Array x = of<float>({2, 2}, {1, 2, 3, 4});
  auto v = [](float a, float b) { return of<float>({2}, {a, b}); };
  OneOp run{"stablehlo.batch_norm_inference",
            {x, v(1, 10), v(0, 1), v(1, 2), v(4, 1)},
            {x.type()},
            norm_attrs(1)};
  expect_near(run.value(), {0, 1, 1, 21});
  run.attrs = norm_attrs(2);
  EXPECT_THAT(run.why(), HasSubstr("[batch_norm_inference] C1"));
  run.attrs = norm_attrs(1);
  run.operands[1] = of<float>({1}, {1});
  EXPECT_THAT(run.why(), HasSubstr("[batch_norm_inference] C3"));
}

TEST(BatchNorm, FindsStatistics) {
  const Array x = of<float>({2, 2}, {1, 2, 3, 6});
  const Array ones = of<float>({2}, {1, 1}), zeros = of<float>({2}, {0, 0});
  auto got = OneOp{"stablehlo.batch_norm_training",
                   {x, ones, zeros},
                   {x.type(), ones.type(), ones.type()},
                   norm_attrs(1)}
                 .run();
  ASSERT_TRUE(got) << got.reason();
  expect_near((*got)[0], {-1, -1, 1, 1});
  expect_near((*got)[1], {2, 4});
  expect_near((*got)[2], {1, 4});
}

TEST(BatchNorm, GivesGradients) {
  // Four values of one feature, mean 0 and variance 1; the gradient of the loss is on the first.
  const Array x = of<double>({4, 1}, {-1, 1, -1, 1});
  const Array one = of<double>({1}, {1}), zero = of<double>({1}, {0});
  const Array gradient = of<double>({4, 1}, {1, 0, 0, 0});
  auto got = OneOp{"stablehlo.batch_norm_grad",
                   {x, one, zero, one, gradient},
                   {x.type(), one.type(), one.type()},
                   norm_attrs(1)}
                 .run();
  ASSERT_TRUE(got) << got.reason();
  expect_near((*got)[0], {0.5, 0, -0.5, 0});
  expect_near((*got)[1], {-1});
  expect_near((*got)[2], {1});
}

OneOp bits_of(std::vector<U> state, Type type, std::string algorithm) {
  const Array words = of<U>({static_cast<L>(state.size())}, state);
  return {"stablehlo.rng_bit_generator",
          {words},
          {words.type(), std::move(type)},
          {word("rng_algorithm", std::move(algorithm))}};
}

TEST(RngBitGenerator, FollowsThreefry) {
  // The first words are the published test vector of Threefry-2x32 for a zero key and counter.
  auto got = bits_of({0, 0}, tensor<std::uint32_t>({3, 2}), "THREE_FRY").run();
  ASSERT_TRUE(got) << got.reason();
  EXPECT_EQ((*got)[0], of<U>({2}, {0, 3}));
  EXPECT_EQ(read_element<std::uint32_t>((*got)[1], 0), 0x6b200159u);
  EXPECT_EQ(read_element<std::uint32_t>((*got)[1], 1), 0x99ba4efeu);
  auto wide = bits_of({0, 0}, tensor<U>({}), "THREE_FRY").run();
  ASSERT_TRUE(wide) << wide.reason();
  EXPECT_EQ((*wide)[1], scalar_array<U>(0x99ba4efe6b200159u));
  EXPECT_EQ((*wide)[0], of<U>({2}, {0, 1}));
}

TEST(RngBitGenerator, PairsAlongTheFirstEvenDimension) {
  auto one = bits_of({7, 5}, tensor<std::uint32_t>({2, 3}), "THREE_FRY").run();
  ASSERT_TRUE(one) << one.reason();
  EXPECT_EQ((*one)[0], of<U>({2}, {7, 8}));
  auto wide = bits_of({7, 5}, tensor<U>({3}), "THREE_FRY").run();
  ASSERT_TRUE(wide) << wide.reason();
  for (L i = 0; i < 3; ++i) {
    const U both = read_element<U>((*wide)[1], i);
    EXPECT_EQ(read_element<std::uint32_t>((*one)[1], i), static_cast<std::uint32_t>(both));
    EXPECT_EQ(read_element<std::uint32_t>((*one)[1], i + 3),
              static_cast<std::uint32_t>(both >> 32));
  }
}

TEST(RngBitGenerator, FollowsPhilox) {
  // The published test vector of Philox-4x32-10 for zeros.
  auto got = bits_of({0, 0, 0}, tensor<std::uint32_t>({5}), "PHILOX").run();
  ASSERT_TRUE(got) << got.reason();
  EXPECT_EQ((*got)[0], of<U>({3}, {0, 2, 0}));
  const std::vector<std::uint32_t> known{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(read_element<std::uint32_t>((*got)[1], static_cast<L>(i)), known[i]);
  auto two = bits_of({0, 0}, tensor<U>({1}), "DEFAULT").run();
  ASSERT_TRUE(two) << two.reason();
  EXPECT_EQ((*two)[0], of<U>({2}, {0, 1}));
  EXPECT_EQ((*two)[1], of<U>({1}, {0xe169c58d6627e8d5u}));
}

TEST(RngBitGenerator, CarriesAndTruncates) {
  auto carry = bits_of({1, ~U{0}, 4}, tensor<std::uint8_t>({8}), "PHILOX").run();
  ASSERT_TRUE(carry) << carry.reason();
  EXPECT_EQ((*carry)[0], of<U>({3}, {1, 1, 5}));
  auto wide = bits_of({1, ~U{0}, 4}, tensor<std::uint32_t>({8}), "PHILOX").run();
  ASSERT_TRUE(wide) << wide.reason();
  for (L i = 0; i < 8; ++i)
    EXPECT_EQ(read_element<std::uint8_t>((*carry)[1], i),
              static_cast<std::uint8_t>(read_element<std::uint32_t>((*wide)[1], i)));
  EXPECT_THAT(bits_of({1, 2, 3}, tensor<U>({}), "THREE_FRY").why(),
              HasSubstr("[rng_bit_generator] I2"));
}

template <typename T>
OneOp random(T a, T b, std::string kind, L n) {
  return {"stablehlo.rng",
          {scalar_array(a), scalar_array(b), of<L>({1}, {n})},
          {tensor<T>({n})},
          {word("rng_distribution", std::move(kind))}};
}

TEST(Rng, StaysInTheIntervalAndRepeats) {
  const Array dice = random<std::int32_t>(-2, 4, "UNIFORM", 600).value();
  std::vector<int> seen(6);
  for (L i = 0; i < 600; ++i) {
    const auto x = read_element<std::int32_t>(dice, i);
    ASSERT_TRUE(x >= -2 && x < 4);
    ++seen[static_cast<std::size_t>(x + 2)];
  }
  for (int count : seen) EXPECT_GT(count, 50);
  EXPECT_EQ(dice, random<std::int32_t>(-2, 4, "UNIFORM", 600).value());
  const Array narrow = random<F16>(F16(1), F16(1.001), "UNIFORM", 100).value();
  for (L i = 0; i < 100; ++i) EXPECT_EQ(to_double(narrow, i), 1);
}

TEST(Rng, HasTheMeanAndDeviationThatWereAsked) {
  const Array x = random<float>(5, 2, "NORMAL", 4000).value();
  double sum = 0, squares = 0;
  for (L i = 0; i < 4000; ++i) sum += to_double(x, i);
  for (L i = 0; i < 4000; ++i) squares += std::pow(to_double(x, i) - sum / 4000, 2);
  EXPECT_NEAR(sum / 4000, 5, 0.15);
  EXPECT_NEAR(std::sqrt(squares / 4000), 2, 0.1);
  EXPECT_THAT(random<std::int32_t>(0, 1, "NORMAL", 2).why(), HasSubstr("[rng] C2"));
}

// [[1, 0, 2], [0, 0, 0], [0, 3, 0]], with an element of padding behind the last row.
TEST(SparseProduct, AddsUpRows) {
  const Array elements = of<float>({4}, {1, 2, 3, 9}), rows = vec({0, 2, 2, 3});
  const Array columns = vec({0, 2, 1, 7});
  const OneOp vector{"heddle.csr_product",
                     {elements, rows, columns, of<float>({3}, {1, 10, 100})},
                     {tensor<float>({3})}};
  expect_near(vector.value(), {201, 0, 30});
  const OneOp matrix{"heddle.csr_product",
                     {elements, rows, columns, of<float>({3, 2}, {1, 2, 10, 20, 100, 200})},
                     {tensor<float>({3, 2})}};
  expect_near(matrix.value(), {201, 402, 0, 0, 30, 60});
  const OneOp wrong{"heddle.csr_product",
                    {elements, rows, vec({0}), of<float>({3}, {1, 10, 100})},
                    {tensor<float>({3})}};
  EXPECT_THAT(wrong.why(), HasSubstr("expected vectors of one size"));
}

}  // namespace
}  // namespace heddle::linalg_tests
