// Floats of attributes are kept as double. Every number of a narrower type is one; a NaN keeps its
// bits in the upper ones of the wide NaN, so that it comes back as the same.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>

#include "ir/eval/scalar.h"

namespace heddle::frontend {

template <typename T>
constexpr FloatFormat format_of() {
  if constexpr (std::is_same_v<T, float>)
    return {8, 23, 127, Specials::infinities};
  else
    return T::format;
}

// The number that a text means, as MLIR reads it: the nearest one. Converting is something else
// where there is no zero: it makes NaN of zero, while a text has the least number for it.
template <typename T>
T written(double value) {
  if constexpr (is_small_float_v<T>) {
    if constexpr (!T::format.has_sign)
      if (value >= 0 && value < std::ldexp(1.5, -T::format.bias)) return T::from_bits(0);
  }
  return static_cast<T>(value);
}

template <typename T>
double widened(T value) {
  const auto wide = static_cast<double>(value);
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else {
    if (!std::isnan(wide)) return wide;
    constexpr FloatFormat format = format_of<T>();
    std::uint32_t bits = 0;
    std::memcpy(&bits, static_cast<const void*>(&value), sizeof(T));
    const bool minus = format.specials != Specials::zero_nan && (bits & format.sign()) != 0;
    const std::uint64_t payload = format.specials == Specials::infinities
                                      ? bits & ((1u << format.mantissa_bits) - 1)
                                      : 1u << format.mantissa_bits >> 1;
    const std::uint64_t quiet = std::uint64_t{1} << 51;
    return std::bit_cast<double>(std::uint64_t{minus} << 63 | std::uint64_t{0x7FF} << 52 |
                                 (payload == 0 ? quiet : payload << (52 - format.mantissa_bits)));
  }
}

template <typename T>
T narrowed(double value) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else {
    constexpr FloatFormat format = format_of<T>();
    if (!std::isnan(value) || format.specials == Specials::none) return written<T>(value);
    const std::uint32_t ones = (std::uint64_t{1} << format.width()) - 1;
    std::uint32_t bits = ones | (std::signbit(value) ? format.sign() : 0);
    if (format.specials == Specials::zero_nan) bits = format.sign();
    if (format.specials == Specials::infinities) {
      const std::uint32_t low = (1u << format.mantissa_bits) - 1;
      const auto payload = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >>
                                                      (52 - format.mantissa_bits)) &
                           low;
      bits = (bits & ~low) | (payload == 0 ? (low >> 1) + 1 : payload);
    }
    T narrow;
    std::memcpy(static_cast<void*>(&narrow), &bits, sizeof(T));
    return narrow;
  }
}

}  // namespace heddle::frontend
