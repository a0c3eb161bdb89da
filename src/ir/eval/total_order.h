// The order of floats that puts NaN at the ends.
#pragma once

#include <bit>
#include <limits>

#include "ir/eval/scalar.h"

namespace heddle {

// As total_order_key, for small floats, whose sign need not be the top bit.
template <typename T>
std::int64_t small_total_order_key(T x) {
  const std::int64_t magnitude = x.bits & ~T::format.sign();
  const bool negative = (x.bits & T::format.sign()) != 0;
  // The only NaN of such a format looks like -0.
  if (T::format.specials == Specials::zero_nan && negative && magnitude == 0)
    return std::numeric_limits<std::int64_t>::max();
  return negative ? -1 - magnitude : magnitude;
}

// A number whose order is IEEE-754's totalOrder: -NaN < -inf < … < -0 < +0 < … < inf < NaN.
template <FloatScalar T>
std::int64_t total_order_key(T x) {
  std::int64_t bits;
  if constexpr (std::is_same_v<T, double>)
    bits = std::bit_cast<std::int64_t>(x);
  else if constexpr (std::is_same_v<T, float>)
    bits = std::bit_cast<std::int32_t>(x);
  else
    return small_total_order_key(x);
  return bits < 0 ? bits ^ std::numeric_limits<std::int64_t>::max() : bits;
}

}  // namespace heddle
