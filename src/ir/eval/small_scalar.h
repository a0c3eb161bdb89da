// Numbers that C++ has no type for: floats below 32 bits and integers below 8.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace heddle {

// What a float format has besides finite numbers.
enum class Specials : std::uint8_t {
  infinities,  // as in IEEE-754: the largest exponent is for infinities and NaN
  one_nan,     // only the pattern of all ones is a NaN; what is too large becomes NaN
  zero_nan,    // the pattern of -0 is the NaN; there is no -0, and what is too large becomes NaN
  none,        // what is too large becomes the largest; NaN becomes -0
};

struct FloatFormat {
  int exponent_bits, mantissa_bits, bias;
  Specials specials;
  // Without a sign there is no zero either: every pattern is a power of two.
  bool has_sign = true;

  constexpr int width() const { return exponent_bits + mantissa_bits; }  // without the sign
  constexpr std::uint32_t sign() const { return has_sign ? 1u << width() : 0; }
  constexpr std::uint32_t infinity() const {
    return ((1u << exponent_bits) - 1) << mantissa_bits;  // where there is one
  }
  constexpr std::uint32_t largest() const {
    if (specials == Specials::infinities) return infinity() - 1;
    return (1u << width()) - (specials == Specials::one_nan ? 2 : 1);
  }
};

// Rounds to nearest even. Without a sign, zero and what is negative become NaN, and what lies
// between the two least numbers becomes the larger one: so do ml_dtypes and XLA.
std::uint32_t encode_small_float(double value, FloatFormat format);
double decode_small_float(std::uint32_t bits, FloatFormat format);

// A float narrower than 32 bits. Arithmetic goes through double, whose precision is more than twice
// as large, so that +, -, * and / are rounded as if once.
template <typename Bits, FloatFormat kFormat>
struct SmallFloat {
  static constexpr FloatFormat format = kFormat;
  using bits_type = Bits;
  Bits bits = 0;

  SmallFloat() = default;
  explicit SmallFloat(double value) : bits(static_cast<Bits>(encode_small_float(value, kFormat))) {}
  static SmallFloat from_bits(Bits bits) {
    SmallFloat x;
    x.bits = bits;
    return x;
  }
  explicit operator double() const { return decode_small_float(bits, kFormat); }
  explicit operator float() const { return static_cast<float>(double(*this)); }

  friend SmallFloat operator+(SmallFloat a, SmallFloat b) {
    return SmallFloat(double(a) + double(b));
  }
  friend SmallFloat operator-(SmallFloat a, SmallFloat b) {
    return SmallFloat(double(a) - double(b));
  }
  friend SmallFloat operator*(SmallFloat a, SmallFloat b) {
    return SmallFloat(double(a) * double(b));
  }
  friend SmallFloat operator/(SmallFloat a, SmallFloat b) {
    return SmallFloat(double(a) / double(b));
  }
  friend SmallFloat operator-(SmallFloat a) {
    // Where the sign bit is no mere sign, the format decides.
    if constexpr (!kFormat.has_sign || kFormat.specials == Specials::zero_nan)
      return SmallFloat(-double(a));
    else
      return from_bits(static_cast<Bits>(a.bits ^ kFormat.sign()));
  }
  friend bool operator==(SmallFloat a, SmallFloat b) { return double(a) == double(b); }
  friend auto operator<=>(SmallFloat a, SmallFloat b) { return double(a) <=> double(b); }
};

using F4E2M1FN = SmallFloat<std::uint8_t, FloatFormat{2, 1, 1, Specials::none}>;
using F6E2M3FN = SmallFloat<std::uint8_t, FloatFormat{2, 3, 1, Specials::none}>;
using F6E3M2FN = SmallFloat<std::uint8_t, FloatFormat{3, 2, 3, Specials::none}>;
using F8E3M4 = SmallFloat<std::uint8_t, FloatFormat{3, 4, 3, Specials::infinities}>;
using F8E4M3 = SmallFloat<std::uint8_t, FloatFormat{4, 3, 7, Specials::infinities}>;
using F8E4M3B11FNUZ = SmallFloat<std::uint8_t, FloatFormat{4, 3, 11, Specials::zero_nan}>;
using F8E4M3FN = SmallFloat<std::uint8_t, FloatFormat{4, 3, 7, Specials::one_nan}>;
using F8E4M3FNUZ = SmallFloat<std::uint8_t, FloatFormat{4, 3, 8, Specials::zero_nan}>;
using F8E5M2 = SmallFloat<std::uint8_t, FloatFormat{5, 2, 15, Specials::infinities}>;
using F8E5M2FNUZ = SmallFloat<std::uint8_t, FloatFormat{5, 2, 16, Specials::zero_nan}>;
using F8E8M0FNU = SmallFloat<std::uint8_t, FloatFormat{8, 0, 127, Specials::one_nan, false}>;
using F16 = SmallFloat<std::uint16_t, FloatFormat{5, 10, 15, Specials::infinities}>;
using BF16 = SmallFloat<std::uint16_t, FloatFormat{8, 7, 127, Specials::infinities}>;

template <typename T>
inline constexpr bool is_small_float_v = false;
template <typename Bits, FloatFormat kFormat>
inline constexpr bool is_small_float_v<SmallFloat<Bits, kFormat>> = true;

// An integer of fewer than 8 bits, in a byte of its own with the sign repeated. As the short
// integers of C++ do, it becomes an int in arithmetic and wraps where it is made from one.
template <int kBits, bool kSigned>
struct SmallInt {
  std::uint8_t bits = 0;

  SmallInt() = default;
  template <std::integral From>
  constexpr SmallInt(From value) : bits(static_cast<std::uint8_t>(wrapped(value))) {}
  template <int kFrom, bool kFromSigned>
  explicit constexpr SmallInt(SmallInt<kFrom, kFromSigned> value) : SmallInt(int(value)) {}
  constexpr operator int() const { return wrapped(bits); }

 private:
  template <std::integral From>
  static constexpr int wrapped(From value) {
    constexpr int mask = (1 << kBits) - 1, top = 1 << (kBits - 1);
    const int low = static_cast<int>(value & static_cast<From>(mask));
    return kSigned ? (low ^ top) - top : low;
  }
};

using I2 = SmallInt<2, true>;
using I4 = SmallInt<4, true>;
using UI2 = SmallInt<2, false>;
using UI4 = SmallInt<4, false>;

template <typename T>
inline constexpr bool is_small_int_v = false;
template <int kBits, bool kSigned>
inline constexpr bool is_small_int_v<SmallInt<kBits, kSigned>> = true;

// The integer type of the same width with (or without) a sign.
template <typename T>
struct Signs {
  using with = std::make_signed_t<T>;
  using without = std::make_unsigned_t<T>;
};
template <int kBits, bool kSigned>
struct Signs<SmallInt<kBits, kSigned>> {
  using with = SmallInt<kBits, true>;
  using without = SmallInt<kBits, false>;
};
template <typename T>
using Signed = typename Signs<T>::with;
template <typename T>
using Unsigned = typename Signs<T>::without;

}  // namespace heddle

template <int kBits, bool kSigned>
struct std::numeric_limits<heddle::SmallInt<kBits, kSigned>> {
  static constexpr bool is_specialized = true, is_integer = true, is_exact = true;
  static constexpr bool is_signed = kSigned, is_bounded = true, is_modulo = true;
  static constexpr int digits = kBits - (kSigned ? 1 : 0), radix = 2;
  static constexpr heddle::SmallInt<kBits, kSigned> min() { return kSigned ? -(1 << digits) : 0; }
  static constexpr heddle::SmallInt<kBits, kSigned> lowest() { return min(); }
  static constexpr heddle::SmallInt<kBits, kSigned> max() { return (1 << digits) - 1; }
};
