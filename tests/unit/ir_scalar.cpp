// Scalars of every element type: rounding, special values and conversions.
#include <gtest/gtest.h>

#include "ir/eval/scalar.h"

namespace heddle::scalar_tests {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(SmallFloat, RoundsToNearestEven) {
  EXPECT_EQ(F16(1.0).bits, 0x3c00);
  EXPECT_EQ(F16(1.0 + 1.0 / 2048).bits, 0x3c00);  // a tie, down to even
  EXPECT_EQ(F16(1.0 + 3.0 / 2048).bits, 0x3c02);  // a tie, up to even
  EXPECT_EQ(F16(65504).bits, 0x7bff);
  EXPECT_EQ(F16(65519.99).bits, 0x7bff);
  EXPECT_EQ(F16(65520).bits, 0x7c00);
  EXPECT_EQ(BF16(1.0 + 1.0 / 256).bits, 0x3f80);
  EXPECT_EQ(BF16(3.4e38).bits, 0x7f80);
  EXPECT_EQ(F8E5M2(57344).bits, 0x7b);
  EXPECT_EQ(F8E5M2(61440).bits, 0x7c);
}

TEST(SmallFloat, KeepsSubnormalsAndSigns) {
  EXPECT_EQ(F16(std::ldexp(1, -24)).bits, 0x0001);
  EXPECT_EQ(F16(std::ldexp(1, -25)).bits, 0x0000);  // a tie with zero
  EXPECT_EQ(F16(std::ldexp(1.01, -25)).bits, 0x0001);
  EXPECT_EQ(F16(std::ldexp(1023.5, -24)).bits, 0x0400);  // up into the normal numbers
  EXPECT_EQ(F16(-0.0).bits, 0x8000);
  EXPECT_EQ(BF16(std::ldexp(1, -133)).bits, 0x0001);
  EXPECT_EQ(F8E4M3FN(std::ldexp(1, -9)).bits, 0x01);
}

TEST(SmallFloat, HasSpecialValues) {
  EXPECT_EQ(F16(kInf).bits, 0x7c00);
  EXPECT_EQ(F16(-kInf).bits, 0xfc00);
  EXPECT_TRUE(std::isnan(double(F16(kNan))));
  EXPECT_TRUE(std::isnan(double(F8E5M2(kNan))));
  // Without infinities, what is too large is NaN.
  EXPECT_EQ(F8E4M3FN(448).bits, 0x7e);
  EXPECT_EQ(F8E4M3FN(464).bits, 0x7e);
  EXPECT_EQ(F8E4M3FN(465).bits, 0x7f);
  EXPECT_EQ(F8E4M3FN(-kInf).bits, 0xff);
  EXPECT_EQ(double(F8E4M3FN::from_bits(0x78)), 256);
  EXPECT_TRUE(std::isnan(double(F8E4M3FN::from_bits(0xff))));
}

TEST(SmallFloat, WithoutSpecialValuesSaturates) {
  EXPECT_EQ(F4E2M1FN(6).bits, 0x7);
  EXPECT_EQ(F4E2M1FN(-1e9).bits, 0xf);
  EXPECT_EQ(F4E2M1FN(0.25).bits, 0x0);  // a tie with zero
  EXPECT_EQ(F4E2M1FN(0.75).bits, 0x2);
  EXPECT_EQ(F4E2M1FN(5).bits, 0x6);  // a tie of 4 and 6
  EXPECT_EQ(F4E2M1FN(-0.0).bits, 0x8);
  EXPECT_EQ(F4E2M1FN(kNan).bits, 0x8);
  EXPECT_EQ(double(F6E2M3FN::from_bits(0x3f)), -7.5);
  EXPECT_EQ(double(F6E3M2FN::from_bits(0x1f)), 28);
  EXPECT_EQ(F6E3M2FN(kInf).bits, 0x1f);
}

TEST(SmallFloat, WithoutNegativeZeroHasOneNan) {
  EXPECT_EQ(F8E4M3FNUZ(-0.0).bits, 0x00);
  EXPECT_EQ(F8E4M3FNUZ(-1e-9).bits, 0x00);
  EXPECT_EQ(F8E4M3FNUZ(kNan).bits, 0x80);
  EXPECT_EQ(F8E4M3FNUZ(kInf).bits, 0x80);
  EXPECT_EQ(F8E4M3FNUZ(240).bits, 0x7f);
  EXPECT_EQ(F8E4M3FNUZ(249).bits, 0x80);
  EXPECT_TRUE(std::isnan(double(F8E5M2FNUZ::from_bits(0x80))));
  EXPECT_EQ(double(F8E5M2FNUZ::from_bits(0xff)), -57344);
  EXPECT_EQ(double(F8E4M3B11FNUZ::from_bits(0x7f)), 30);
  EXPECT_EQ(double(F8E4M3B11FNUZ::from_bits(0x01)), std::ldexp(1, -13));
  EXPECT_EQ((-F8E4M3FNUZ(0.0)).bits, 0x00);
  EXPECT_EQ((-F8E4M3FNUZ(1.0)).bits, F8E4M3FNUZ(-1.0).bits);
  EXPECT_EQ((-F8E4M3FNUZ(kNan)).bits, 0x80);
}

TEST(SmallFloat, WithInfinitiesInEightBits) {
  EXPECT_EQ(double(F8E3M4::from_bits(0x6f)), 15.5);
  EXPECT_EQ(F8E3M4(15.75).bits, 0x70);
  EXPECT_EQ(F8E3M4(-kInf).bits, 0xf0);
  EXPECT_EQ(double(F8E4M3::from_bits(0x77)), 240);
  EXPECT_EQ(F8E4M3(248).bits, 0x78);
  EXPECT_EQ(F8E4M3(kNan).bits, 0x7c);
}

TEST(SmallFloat, OfExponentsOnlyIsAPowerOfTwo) {
  EXPECT_EQ(F8E8M0FNU(1).bits, 0x7f);
  EXPECT_EQ(F8E8M0FNU(0.1).bits, 0x7c);
  EXPECT_EQ(F8E8M0FNU(1.5).bits, 0x80);  // a tie; the leading one is odd
  EXPECT_EQ(F8E8M0FNU(3).bits, 0x81);    // and so it is here
  EXPECT_EQ(F8E8M0FNU(0).bits, 0xff);    // there is no zero
  EXPECT_EQ(F8E8M0FNU(-0.0).bits, 0xff);
  EXPECT_EQ(F8E8M0FNU(-1).bits, 0xff);
  EXPECT_EQ(F8E8M0FNU(kInf).bits, 0xff);
  EXPECT_EQ(F8E8M0FNU(-kInf).bits, 0xff);
  EXPECT_EQ(F8E8M0FNU(kNan).bits, 0xff);
  EXPECT_EQ(F8E8M0FNU(std::ldexp(1, 127)).bits, 0xfe);
  EXPECT_EQ(F8E8M0FNU(std::ldexp(1.4, 127)).bits, 0xfe);
  EXPECT_EQ(F8E8M0FNU(std::ldexp(1.5, 127)).bits, 0xff);
  EXPECT_EQ(F8E8M0FNU(std::ldexp(1, 128)).bits, 0xff);
  EXPECT_EQ(double(F8E8M0FNU::from_bits(0x00)), std::ldexp(1, -127));
  // Below the least number: as ml_dtypes 0.6 has it.
  EXPECT_EQ(F8E8M0FNU(std::ldexp(1, -127)).bits, 0x00);
  EXPECT_EQ(F8E8M0FNU(std::ldexp(1, -149)).bits, 0x00);
  EXPECT_EQ(F8E8M0FNU(std::ldexp(1.4, -127)).bits, 0x01);
  EXPECT_EQ(F8E8M0FNU(std::ldexp(1.4, -126)).bits, 0x01);
  EXPECT_EQ(F8E8M0FNU(std::ldexp(1, -200)).bits, 0xff);
  EXPECT_TRUE(std::isnan(double(F8E8M0FNU::from_bits(0xff))));
  EXPECT_TRUE(std::isnan(double(-F8E8M0FNU(1))));
}

template <typename T>
void every_pattern_comes_back() {
  const unsigned top = T::format.sign() == 0 ? 0xff : 2 * T::format.sign() - 1;
  for (unsigned bits = 0; bits <= top; ++bits) {
    const auto x = T::from_bits(static_cast<typename T::bits_type>(bits));
    const auto value = static_cast<double>(x);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(double(T(value))));
    else
      EXPECT_EQ(T(value).bits, bits);
  }
}

TEST(SmallFloat, ComesBackFromDouble) {
  every_pattern_comes_back<F16>();
  every_pattern_comes_back<BF16>();
  every_pattern_comes_back<F8E4M3FN>();
  every_pattern_comes_back<F8E5M2>();
  every_pattern_comes_back<F4E2M1FN>();
  every_pattern_comes_back<F6E2M3FN>();
  every_pattern_comes_back<F6E3M2FN>();
  every_pattern_comes_back<F8E3M4>();
  every_pattern_comes_back<F8E4M3>();
  every_pattern_comes_back<F8E4M3B11FNUZ>();
  every_pattern_comes_back<F8E4M3FNUZ>();
  every_pattern_comes_back<F8E5M2FNUZ>();
  every_pattern_comes_back<F8E8M0FNU>();
}

TEST(SmallInt, WrapsInItsOwnWidth) {
  EXPECT_EQ(int(I2(2)), -2);
  EXPECT_EQ(int(I2(-3)), 1);
  EXPECT_EQ(int(UI2(-1)), 3);
  EXPECT_EQ(int(I4(I4(7) + I4(1))), -8);
  EXPECT_EQ(int(I4(I4(-8) * I4(-1))), -8);
  EXPECT_EQ(int(UI4(UI4(3) - UI4(5))), 14);
  EXPECT_EQ(int(UI4(~UI4(5))), 10);
  EXPECT_EQ(int(I4(std::uint64_t{0xfffffffffffffff9})), -7);
  EXPECT_LT(I4(-1), I4(0));
  EXPECT_GT(UI4(-1), UI4(0));
  EXPECT_EQ(int(std::numeric_limits<I4>::min()), -8);
  EXPECT_EQ(int(std::numeric_limits<UI2>::max()), 3);
}

TEST(SmallInt, ConvertsLikeOtherIntegers) {
  EXPECT_EQ(int(convert_scalar<I4>(100.0)), 7);
  EXPECT_EQ(int(convert_scalar<I4>(-kInf)), -8);
  EXPECT_EQ(int(convert_scalar<UI2>(-1.0f)), 0);
  EXPECT_EQ(int(convert_scalar<I4>(kNan)), 0);
  EXPECT_EQ(int(convert_scalar<I4>(25)), -7);
  EXPECT_EQ(int(convert_scalar<UI4>(I2(-1))), 15);
  EXPECT_EQ(convert_scalar<std::uint64_t>(I4(-1)), UINT64_MAX);
  EXPECT_EQ(double(convert_scalar<F8E4M3FN>(I4(-5))), -5);
  EXPECT_EQ(convert_scalar<C64>(UI4(9)), C64(9, 0));
  EXPECT_TRUE(bool(convert_scalar<Bool>(I2(-2))));
}

TEST(Convert, FloatsToIntegersSaturate) {
  EXPECT_EQ(convert_scalar<std::int8_t>(-1.9), -1);
  EXPECT_EQ(convert_scalar<std::int8_t>(128.0f), 127);
  EXPECT_EQ(convert_scalar<std::int8_t>(-1e30), -128);
  EXPECT_EQ(convert_scalar<std::uint8_t>(-1.0), 0);
  EXPECT_EQ(convert_scalar<std::int32_t>(kNan), 0);
  EXPECT_EQ(convert_scalar<std::int64_t>(9223372036854775808.0), INT64_MAX);
  EXPECT_EQ(convert_scalar<std::int64_t>(-9223372036854775808.0), INT64_MIN);
  EXPECT_EQ(convert_scalar<std::uint64_t>(kInf), UINT64_MAX);
}

TEST(Convert, IntegersTruncateAndRound) {
  EXPECT_EQ(convert_scalar<std::int8_t>(300), 44);
  EXPECT_EQ(convert_scalar<std::uint32_t>(std::int8_t{-1}), UINT32_MAX);
  EXPECT_EQ(convert_scalar<float>(16777217), 16777216.0f);
  // Just above a tie of bf16; rounding to double first would lose that.
  const std::int64_t above = (std::int64_t{257} << 54) + 1;
  EXPECT_EQ(double(convert_scalar<BF16>(above)), std::ldexp(258, 54));
  EXPECT_EQ(double(convert_scalar<BF16>(-above)), std::ldexp(-258, 54));
  EXPECT_EQ(double(convert_scalar<BF16>(above - 1)), std::ldexp(256, 54));
  EXPECT_EQ(double(convert_scalar<F16>(std::int64_t{1} << 40)), kInf);
}

TEST(Convert, TruthValuesAndComplexNumbers) {
  EXPECT_EQ(convert_scalar<float>(Bool(true)), 1.0f);
  EXPECT_TRUE(bool(convert_scalar<Bool>(kNan)));
  EXPECT_FALSE(bool(convert_scalar<Bool>(-0.0)));
  EXPECT_FALSE(bool(convert_scalar<Bool>(C128(0, 1))));  // only the real part counts
  EXPECT_EQ(convert_scalar<std::int32_t>(C64(-2.5f, 7)), -2);
  EXPECT_EQ(convert_scalar<C64>(F16(1.5)), C64(1.5f, 0));
}

TEST(Elements, AreReadFromAnyArray) {
  const Array big = make_array<std::uint64_t>(Shape{2}, {7, UINT64_MAX});
  EXPECT_EQ(to_int64(big, 0), 7);
  EXPECT_EQ(to_int64(big, 1), INT64_MAX);
  const Array halves = filled_array(Type::tensor(DType::f16, {3}), F16(0.5));
  EXPECT_TRUE(halves.is_splat());
  EXPECT_EQ(to_double(halves, 2), 0.5);
  EXPECT_EQ(element_text(halves, 1), "0.5");
  EXPECT_EQ(element_text(scalar_array(C64(1, -2)), 0), "(1,-2)");
  EXPECT_EQ(element_text(scalar_array(Bool(true)), 0), "true");
  EXPECT_EQ(element_array(big, 0), scalar_array<std::uint64_t>(7));
  EXPECT_EQ(element_text(scalar_array(I4(-3)), 0), "-3");
  EXPECT_EQ(to_int64(scalar_array(UI4(15))), 15);
}

TEST(Elements, FromOutsideAreSettled) {
  std::vector<std::byte> bytes{std::byte{0x0d}, std::byte{0xfd}, std::byte{0x13}};
  settle_elements(DType::i4, bytes);
  EXPECT_EQ(bytes, (std::vector{std::byte{0xfd}, std::byte{0xfd}, std::byte{0x03}}));
  settle_elements(DType::f6e2m3fn, bytes);
  EXPECT_EQ(bytes, (std::vector{std::byte{0x3d}, std::byte{0x3d}, std::byte{0x03}}));
  settle_elements(DType::i1, bytes);
  EXPECT_EQ(bytes, (std::vector{std::byte{1}, std::byte{1}, std::byte{1}}));
}

}  // namespace
}  // namespace heddle::scalar_tests
