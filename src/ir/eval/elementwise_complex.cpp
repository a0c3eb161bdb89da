#include "ir/eval/elementwise_complex.h"

namespace heddle {

namespace {

bool is_finite(WideComplex z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }

// |1 + x + iy|^2 - 1 = 2x + x^2 + y^2, with the rounding errors of the squares added back.
long double squared_distance_minus_one(long double x, long double y) {
  const long double xx = x * x, yy = y * y;
  const long double xx_rest = std::fma(x, x, -xx), yy_rest = std::fma(y, y, -yy);
  const long double twice = 2 * x;
  const long double first = twice + yy;
  const long double part = first - twice;
  const long double first_rest = (twice - (first - part)) + (yy - part);
  const long double sum = first + xx;
  const long double part2 = sum - first;
  const long double sum_rest = (first - (sum - part2)) + (xx - part2);
  return sum + (first_rest + sum_rest + xx_rest + yy_rest);
}

}  // namespace

long double sum_of_products(long double a, long double b, long double c, long double d) {
  const long double cd = c * d;
  return std::fma(a, b, cd) + std::fma(c, d, -cd);
}

WideComplex complex_divide(WideComplex x, WideComplex y) {
  const long double a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  const long double scale = c * c + d * d;
  if (!is_finite(x) || !is_finite(y) || scale == 0 || std::isinf(scale)) return x / y;
  return {sum_of_products(a, c, b, d) / scale, sum_of_products(b, c, -a, d) / scale};
}

WideComplex complex_expm1(WideComplex z) {
  const WideComplex whole = std::exp(z);
  if (!is_finite(z) || !is_finite(whole)) return {whole.real() - 1, whole.imag()};
  const long double half_sine = std::sin(z.imag() / 2);
  const long double small = std::expm1(z.real());
  return {small * std::cos(z.imag()) - 2 * half_sine * half_sine, whole.imag()};
}

WideComplex complex_log1p(WideComplex z) {
  const long double x = z.real(), y = z.imag();
  const WideComplex shifted(1 + x, y);
  if (!is_finite(z)) return std::log(shifted);
  const long double distance = std::hypot(1 + x, y);
  // Far from the unit circle around -1 the logarithm has nothing to cancel.
  if (distance < 0.5L || distance > 2) return std::log(shifted);
  return {std::log1p(squared_distance_minus_one(x, y)) / 2, std::arg(shifted)};
}

// 1 / (1 + e^-z), multiplied out so that nothing cancels near the poles and nothing overflows.
WideComplex complex_logistic(WideComplex z) {
  const long double x = z.real(), y = z.imag();
  const long double decay = std::exp(-std::fabs(x));  // at most 1
  const long double rest = -std::expm1(-std::fabs(x));
  const long double half_cosine = std::cos(y / 2);
  const long double bump = 2 * decay * half_cosine * half_cosine;
  const long double scale = rest * rest + 2 * bump;
  const long double imag = y == 0 ? y : decay * std::sin(y) / scale;
  if (x >= 0) return {(rest + bump) / scale, imag};
  // e^x (e^x + cos y), where e^x - 1 = -rest; by either form, whichever does not cancel.
  const long double sum = decay < 0.5L ? decay + std::cos(y) : 2 * half_cosine * half_cosine - rest;
  return {decay * sum / scale, imag};
}

WideComplex complex_rsqrt(WideComplex z) {
  const WideComplex root = std::sqrt(z);
  const long double scale = root.real() * root.real() + root.imag() * root.imag();
  if (!is_finite(root) || scale == 0) return WideComplex(1) / root;
  return {root.real() / scale, -root.imag() / scale};
}

WideComplex complex_cbrt(WideComplex z) {
  const long double radius = std::cbrt(std::hypot(z.real(), z.imag()));
  const long double angle = std::arg(z) / 3;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

WideComplex complex_power(WideComplex x, WideComplex y) {
  const bool zero_base = x.real() == 0 && x.imag() == 0;
  const bool zero_power = y.real() == 0 && y.imag() == 0;
  if (zero_power) return {1, 0};
  if (zero_base && y.real() > 0) return {0, 0};
  return std::pow(x, y);
}

// -i log((x + iy) / sqrt(x^2 + y^2))
WideComplex complex_atan2(WideComplex y, WideComplex x) {
  if (x.imag() == 0 && y.imag() == 0)
    return {std::atan2(y.real(), x.real()), std::copysign(0.0L, -y.real())};
  const WideComplex up(x.real() - y.imag(), x.imag() + y.real());  // x + iy
  const WideComplex ratio = complex_divide(up, std::sqrt(x * x + y * y));
  const WideComplex turned = std::log(ratio);
  return {turned.imag(), -turned.real()};
}

}  // namespace heddle
