// Logarithm and power of additions, products and divisions alone: libraries round theirs
// differently from machine to machine, and a search that takes another turn finds another plan.
#pragma once

namespace heddle {

inline constexpr double kLogOfTwo = 0.6931471805599453;

// Of a finite number above 0; right to about ten digits.
double plain_log(double x);
double plain_exp(double x);  // between -700 and 700
inline double plain_power(double base, double exponent) {
  return plain_exp(exponent * plain_log(base));
}

}  // namespace heddle
