#include "base/plain_math.h"

#include <cmath>

namespace heddle {

namespace {

constexpr double kRootOfHalf = 0.7071067811865476;

}  // namespace

// The exponent, and 2 artanh((m - 1) / (m + 1)) of a mantissa near 1.
double plain_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < kRootOfHalf) {
    mantissa *= 2;
    --exponent;
  }
  const double f = (mantissa - 1) / (mantissa + 1), square = f * f;
  double sum = 0;
  for (int k = 15; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent * kLogOfTwo + 2 * f * sum;
}

// A power of two, and a series for what is left.
double plain_exp(double x) {
  const double whole = std::floor(x / kLogOfTwo + 0.5);
  const double rest = x - whole * kLogOfTwo;
  double sum = 1;
  for (int k = 12; k >= 1; --k) sum = 1 + sum * rest / k;
  return std::ldexp(sum, static_cast<int>(whole));
}

}  // namespace heddle
