#include "ir/special_functions.h"

#include <math.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace heddle {

namespace {

constexpr long double kNan = std::numeric_limits<long double>::quiet_NaN();
constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
constexpr long double kPi = std::numbers::pi_v<long double>;

// Bernoulli numbers B2, B4, …, B26.
constexpr long double kBernoulli[] = {1.0L / 6,         -1.0L / 30,      1.0L / 42,
                                      -1.0L / 30,       5.0L / 66,       -691.0L / 2730,
                                      7.0L / 6,         -3617.0L / 510,  43867.0L / 798,
                                      -174611.0L / 330, 854513.0L / 138, -236364091.0L / 2730,
                                      8553103.0L / 6};

// From here on the asymptotic series above reach the last place of a long double.
constexpr long double kFar = 16;

bool is_whole(long double x) { return std::floor(x) == x; }

// log x - 1/2x - sum of B2k / (2k x^2k)
long double digamma_far(long double x) {
  const long double step = 1 / (x * x);
  long double power = step, sum = 0;
  for (int k = 1; k <= 13; ++k, power *= step) sum += kBernoulli[k - 1] / (2 * k) * power;
  return std::log(x) - 1 / (2 * x) - sum;
}

// The only positive root, as the sum of two numbers.
constexpr long double kRoot = 1.4616321449683623413L;
constexpr long double kRootRest = -1.8257096315963484e-20L;

// Near the root: the difference to the value 0 there, term by term, so that nothing cancels.
// digamma(x) - digamma(r) is the sum of (x - r) / ((n + r)(n + x)), whose tail is the difference of
// the asymptotic series.
long double digamma_near_root(long double x) {
  const long double distance = (x - kRoot) - kRootRest;
  long double sum = 0;
  const int steps = 40;
  for (int n = 0; n < steps; ++n) sum += distance / ((n + kRoot) * (n + x));
  // The tail: powers of a and b differ by (a - b) times a sum of products.
  const long double from = steps + kRoot, to = steps + x;
  const long double a = 1 / (to * to), b = 1 / (from * from);
  const long double first = -distance * (to + from) * a * b;
  long double difference = first, b_power = b, series = 0;
  for (int k = 1; k <= 8; ++k, b_power *= b) {
    series += kBernoulli[k - 1] / (2 * k) * difference;
    difference = a * difference + first * b_power;
  }
  return sum + std::log1p(distance / from) + distance / (2 * from * to) - series;
}

// For positive q: direct terms up to where Euler-Maclaurin's formula converges.
long double zeta_positive(long double s, long double q) {
  long double sum = 0;
  // Either q passes s soon, or the terms fall so fast that they stop to matter.
  while (q < s + 20) {
    const long double term = std::pow(q, -s);
    sum += term;
    if (!(term > sum * 1e-22L)) return sum;
    q += 1;
  }
  const long double edge = std::pow(q, -s);
  long double rest = edge * q / (s - 1) + edge / 2;
  long double factor = s * edge / q / 2;  // s (s+1) … q^(-s-2k+1) / (2k)!
  for (int k = 1; k <= 13; ++k) {
    rest += kBernoulli[k - 1] * factor;
    factor *= (s + 2 * k - 1) * (s + 2 * k) / (q * q * (2 * k + 1) * (2 * k + 2));
  }
  return sum + rest;
}

// exp(-x) I_order(x) for x >= 0: the power series, all of whose terms are positive.
long double bessel_series(int order, long double x) {
  const long double quarter = x * x / 4;
  long double term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < 400; ++k) {
    term *= quarter / (static_cast<long double>(k) * (k + order));
    sum += term;
    if (term < sum * 1e-22L) break;
  }
  return sum * std::exp(-x);
}

// The asymptotic series for large x.
long double bessel_far(int order, long double x) {
  const long double mu = 4.0L * order * order;
  long double term = 1, sum = 1;
  for (int k = 1; k < 60; ++k) {
    const long double odd = 2 * k - 1;
    term *= -(mu - odd * odd) / (8 * x * k);
    sum += term;
    if (std::fabs(term) < 1e-22L) break;
  }
  return sum / std::sqrt(2 * kPi * x);
}

long double bessel_scaled(int order, long double x) {
  const long double size = std::fabs(x);
  if (std::isnan(x)) return x;
  if (std::isinf(size)) return order == 1 ? std::copysign(0.0L, x) : 0;
  const long double value = size < 60 ? bessel_series(order, size) : bessel_far(order, size);
  return order == 1 ? std::copysign(value, x) : value;
}

}  // namespace

long double log_gamma(long double x) {
  if (std::isinf(x)) return kInfinity;
  int sign = 0;
  return ::lgammal_r(x, &sign);  // lgamma itself writes a global variable
}

long double digamma(long double x) {
  if (std::isnan(x) || (x <= 0 && is_whole(x))) return kNan;
  if (x < 0) {
    // digamma(1 - x) = digamma(x) + pi / tan(pi x); the whole part of x changes nothing there.
    const long double rest = x - std::nearbyint(x);
    return digamma(1 - x) - kPi / std::tan(kPi * rest);
  }
  if (std::fabs(x - kRoot) < 0.25L) return digamma_near_root(x);
  long double below = 0;
  for (; x < kFar; x += 1) below += 1 / x;
  return digamma_far(x) - below;
}

long double hurwitz_zeta(long double s, long double q) {
  if (std::isnan(s) || std::isnan(q) || s < 1) return kNan;
  if (s == 1) return kInfinity;
  if (q > 0) return std::isinf(q) ? 0 : zeta_positive(s, q);
  if (is_whole(q)) return kInfinity;
  if (!is_whole(s)) return kNan;  // a negative number to a broken power
  // Over all whole n the sum depends on the fraction of q only; take off the n below 0.
  const long double fraction = q - std::floor(q);
  const long double sign = std::fmod(s, 2.0L) == 0 ? 1 : -1;
  const long double left = zeta_positive(s, 1 - fraction) - zeta_positive(s, 1 - q);
  return zeta_positive(s, fraction) + sign * left;
}

long double polygamma(long double n, long double x) {
  if (n == 0) return digamma(x);
  if (std::isnan(n) || std::isnan(x) || n < 0 || !is_whole(n)) return kNan;
  const long double sign = std::fmod(n, 2.0L) == 1 ? 1 : -1;
  const long double zeta = hurwitz_zeta(n + 1, x);
  const long double factorial = std::tgamma(n + 1);
  if (std::isfinite(factorial)) return sign * factorial * zeta;
  return sign * std::copysign(std::exp(log_gamma(n + 1) + std::log(std::fabs(zeta))), zeta);
}

long double inverse_erf(long double x) {
  const long double size = std::fabs(x);
  if (!(size <= 1)) return kNan;
  if (size == 1) return std::copysign(kInfinity, x);
  if (size < 1e-12L) return x * std::sqrt(kPi) / 2;
  // A rough guess, then Halley's steps, each of which triples the number of right digits.
  const long double log_rest = std::log1p(-size * size);
  const long double a = 0.147L, b = 2 / (kPi * a) + log_rest / 2;
  long double y = std::sqrt(std::sqrt(b * b - log_rest / a) - b);
  const bool tail = size > 0.5L;
  for (int step = 0; step < 6; ++step) {
    const long double error = tail ? (1 - size) - std::erfc(y) : std::erf(y) - size;
    const long double newton = error * std::sqrt(kPi) / 2 * std::exp(y * y);
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

long double bessel_i0e(long double x) { return bessel_scaled(0, x); }
long double bessel_i1e(long double x) { return bessel_scaled(1, x); }

}  // namespace heddle
