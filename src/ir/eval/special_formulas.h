// The special functions, once: templates over what a number is. With long double they evaluate;
// with a value of a program they write the ops that do (src/ir/lower/chlo_functions.cpp). So there
// are no branches on numbers: both sides are computed and one is selected, and loops have a fixed
// length.
//
// A number N has + - * / with itself and with long double, and, found by its arguments' namespace:
//   exp log log1p sqrt sin tan floor abs round_even (N); power(N, N); shortened(N), to 24 bits;
//   less(N, N or long double), equal(…), both, either of truths; select(truth, N, N);
//   like(N, long double), a constant; lookup(table, N), by a whole number in range;
//   precision(N), the relative error that does not matter.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "ir/eval/special_tables.h"

namespace heddle::special {

using Coefficients = std::span<const long double>;
inline constexpr long double kPi = std::numbers::pi_v<long double>;
inline constexpr long double kRootPi = 1.77245385090551602729816748334L;
inline constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
inline constexpr long double kNan = std::numeric_limits<long double>::quiet_NaN();

// ---- sums

// Without the last terms, where they do not matter: term k is at most |c[k]| * radius^k.
inline Coefficients needed(Coefficients c, long double radius, long double precision) {
  long double largest = 0, power = 1;
  std::size_t last = 1;
  for (std::size_t k = 0; k < c.size(); ++k, power *= radius) {
    const long double term = (c[k] < 0 ? -c[k] : c[k]) * power;
    if (term > largest) largest = term;
    if (term > largest * precision) last = k + 1;
  }
  return c.first(last);
}

// The sum of c[k] T_k(t) for t in [-1, 1], by Clenshaw's recurrence.
template <typename N>
N chebyshev(Coefficients c, N t) {
  c = needed(c, 1, precision(t));
  const N twice = t + t;
  N next = like(t, 0), after = like(t, 0);
  for (std::size_t k = c.size(); k-- > 1;) {
    const N now = twice * next - after + c[k];
    after = next;
    next = now;
  }
  return t * next - after + c[0];
}

// The sum of c[k] x^k for |x| up to radius.
template <typename N>
N powers(Coefficients c, N x, long double radius) {
  c = needed(c, radius, precision(x));
  N sum = like(x, c.back());
  for (std::size_t k = c.size() - 1; k-- > 0;) sum = sum * x + c[k];
  return sum;
}

// ---- small words

template <typename N>
N with_sign_of(N x, N size) {
  return select(less(x, 0), -size, size);
}

template <typename N>
N fraction(N x) {
  return x - floor(x);
}

// ---- error functions

inline constexpr auto kErfSeries = [] {
  std::array<long double, 26> c{};
  long double factorial = 1;
  for (int n = 0; n < 26; ++n) {
    if (n > 0) factorial *= -n;
    c[static_cast<std::size_t>(n)] = 2 / kRootPi / (factorial * (2 * n + 1));
  }
  return c;
}();

// erf(x) for |x| up to 1.
template <typename N>
N erf_near(N x) {
  return x * powers(Coefficients(kErfSeries), x * x, 1);
}

// erfc(x) for x >= 0.
template <typename N>
N erfc_far(N x) {
  x = select(less(200, x), like(x, 200), x);  // zero from far before on
  // exp(-x^2) without the rounding error of the square, which exp would enlarge.
  const N head = shortened(x);
  const N decay = exp(-(head * head)) * exp((head - x) * (head + x));
  return decay * chebyshev(kErfcScaled, (x - 3.75L) / (x + 3.75L)) / (x + x + 1);
}

template <typename N>
N erf(N x) {
  const N size = abs(x);
  return select(less(size, 1), erf_near(x), with_sign_of(x, 1 - erfc_far(size)));
}

template <typename N>
N erfc(N x) {
  const N size = abs(x), far = erfc_far(size);
  return select(less(size, 0.5L), 1 - erf_near(x), select(less(x, 0), 2 - far, far));
}

// The inverse of erf as f32 and narrower types can tell it.
template <typename N>
N inverse_erf_short(N x) {
  const N w = -log(1 - x * x);
  const N near = powers(Coefficients(kInverseErfNear), w * 0.32L - 1, 1);
  const N far = powers(Coefficients(kInverseErfFar), (sqrt(w) - 3.25L) * (4.0L / 3), 1);
  // 1 becomes an infinity: its w is one.
  return x * select(less(w, 6.25L), near, select(less(w, 17), far, w));
}

// The inverse of erf: a rough guess, then Halley's steps, each of which triples the right digits.
template <typename N>
N inverse_erf(N x) {
  if (precision(x) > 1e-12L) return inverse_erf_short(x);
  const N size = abs(x), log_rest = log1p(-(size * size));
  const long double a = 0.147L;
  const N b = log_rest / 2 + 2 / (kPi * a);
  N y = sqrt(sqrt(b * b - log_rest / a) - b);
  const auto tail = less(0.5L, size);
  for (int step = 0; step < 3; ++step) {
    const N error = select(tail, 1 - size - erfc_far(y), erf_near(y) - size);
    const N newton = error * (kRootPi / 2) * exp(y * y);
    y = y - newton / (y * newton + 1);
  }
  y = select(equal(size, 1), like(x, kInfinity), select(less(1, size), like(x, kNan), y));
  return select(less(size, 1e-12L), x * (kRootPi / 2), with_sign_of(x, y));
}

// ---- gamma and its kin

inline constexpr auto kLogGammaSeries = [] {
  std::array<long double, std::size(kZetaMinusOne) + 1> c{};
  c[0] = 1 - 0.5772156649015328606065120900824024L;
  for (std::size_t k = 2; k < c.size() + 1; ++k)
    c[k - 1] = (k % 2 == 0 ? 1 : -1) * kZetaMinusOne[k - 2] / static_cast<long double>(k);
  return c;
}();

// log gamma(x) for large x: Stirling's series.
template <typename N>
N log_gamma_far(N x) {
  std::array<long double, 13> c{};
  for (int k = 1; k <= 13; ++k)
    c[static_cast<std::size_t>(k - 1)] = kBernoulli[k - 1] / (2 * k * (2 * k - 1));
  const N step = 1 / x;
  const N rest = step * powers(Coefficients(c), step * step, 1.0L / 144);
  const long double half_log_tau = 0.91893853320467274178032973640562L;
  return (x - 0.5L) * (log(x) - 1) + (half_log_tau - 0.5L) + rest;
}

// log gamma(x) for x >= 0. Around 1 and 2, where it is zero, by the series around 2.
template <typename N>
N log_gamma_positive(N x) {
  // Larger ones come down to [1.5, 2.5]: gamma(x) = (x-1) (x-2) … gamma(w).
  N w = x, product = like(x, 1);
  for (int i = 0; i < 10; ++i) {
    const auto above = less(2.5L, w);
    const N below = w - 1;
    product = select(above, product * below, product);
    w = select(above, below, w);
  }
  const auto tiny = less(x, 0.5L), around_one = less(x, 1.5L);
  const N z = select(tiny, x, select(around_one, x - 1, w - 2));
  const N series = z * powers(Coefficients(kLogGammaSeries), z, 0.5L);
  const N from_one = select(around_one, log1p(z), like(x, 0));
  const N logarithm = log(select(tiny, x, select(around_one, like(x, 1), product)));
  const N near = series - from_one + select(tiny, -logarithm, logarithm);
  return select(less(x, 12), near, log_gamma_far(x));
}

template <typename N>
N log_gamma(N x) {
  const auto negative = less(x, 0);
  const N positive = log_gamma_positive(select(negative, 1 - x, x));
  const N part = fraction(abs(x));
  const N sine = sin(select(less(0.5L, part), 1 - part, part) * kPi);
  const N reflected = 1.14472988584940017414342735135L - log(sine) - positive;  // log pi
  const N value = select(negative, reflected, positive);
  return select(equal(abs(x), kInfinity), like(x, kInfinity), value);
}

// digamma(x) for x > 0, but not around its root.
template <typename N>
N digamma_positive(N x) {
  N below = like(x, 0);
  for (int i = 0; i < 10; ++i) {
    const auto near = less(x, 10);
    below = below + select(near, 1 / x, like(x, 0));
    x = select(near, x + 1, x);
  }
  std::array<long double, 14> c{};  // log x - 1/2x - sum of B2k / (2k x^2k)
  for (int k = 1; k <= 13; ++k) c[static_cast<std::size_t>(k)] = kBernoulli[k - 1] / (2 * k);
  const N step = 1 / x, squared = step * step;
  const N rest = squared * powers(Coefficients(c).subspan(1), squared, 0.01L);
  return log(x) - step / 2 - rest - below;
}

// 1 / tan(pi r) for |r| <= 1/2.
template <typename N>
N cotangent_of_turn(N r) {
  const N size = abs(r);
  const auto steep = less(size, 0.25L);
  const N tangent = tan(select(steep, size, 0.5L - size) * kPi);
  return with_sign_of(r, select(steep, 1 / tangent, tangent));
}

template <typename N>
N digamma(N x) {
  const auto negative = less(x, 0);
  const N y = select(negative, 1 - x, x);
  // The root as a sum of two numbers, so that the distance to it is exact.
  const N distance = y - 0x1.762d86356be3fp+0L - 9.549995429965697715184199e-17L;
  const N near_root = distance * powers(kDigammaAtRoot, distance, 0.25L);
  const N positive = select(less(abs(distance), 0.25L), near_root, digamma_positive(y));
  // digamma(1 - x) = digamma(x) + pi / tan(pi x); the whole part of x changes nothing there.
  const N rest = x - round_even(x);
  const N value = select(negative, positive - cotangent_of_turn(rest) * kPi, positive);
  const auto pole = both(either(less(x, 0), equal(x, 0)), equal(rest, 0));
  return select(either(pole, equal(x, -kInfinity)), like(x, kNan), value);
}

// ---- zeta

// What q^(1-s) must be multiplied by to give the sum of (q + n)^-s over n >= 0, for q > 0: the
// first terms, then Euler and Maclaurin's formula from `far` on.
template <typename N>
N zeta_factor(N s, N q) {
  constexpr int terms = 10;
  N sum = like(q, 1);
  // (1 + n/q)^-s, without rounding 1 + n/q where q is large.
  auto term = [&](int n) { return exp(-(s * log1p(n / q))); };
  for (int n = 1; n < terms; ++n) sum = sum + term(n);
  const N far = q + terms, edge = term(terms), inverse = 1 / far;
  N rest = like(q, 0.5L);
  N factor = s * inverse / 2;  // s (s+1) … / ((2k)! far^(2k-1))
  for (int k = 1; k <= 13; ++k) {
    rest = rest + factor * kBernoulli[k - 1];
    factor = factor * ((s + (2 * k - 1)) * inverse) * ((s + 2 * k) * inverse) /
             ((2 * k + 1) * (2 * k + 2));
  }
  // Where the terms have died away, the formula is not needed, and may have overflowed.
  const auto gone = equal(edge, 0);
  const N head = (sum + select(gone, edge, edge * rest)) / q;
  return head + select(gone, edge, edge * (far / q) / (s - 1));
}

template <typename N>
N zeta_positive(N s, N q) {
  const N value = power(q, 1 - s) * zeta_factor(s, q);
  return select(equal(q, kInfinity), like(q, 0), value);
}

template <typename N>
auto is_odd(N whole) {
  return equal(fraction(whole / 2), 0.5L);
}

// `odd`: whether s is, which s itself cannot say any more where it is large.
template <typename N, typename Truth>
N zeta_anywhere(N s, Truth odd, N q) {
  // Below 0, for whole s: over all whole n the sum depends on the fraction of q only; take off the
  // n below 0.
  const N part = fraction(q), other = fraction(-q);  // 1 - part, without rounding where it is tiny
  const N of_part = zeta_positive(s, part), across = zeta_positive(s, other);
  const N left_out = zeta_positive(s, 1 - q);
  // Where both are infinite, the one from the nearer pole has the say.
  const auto overflow = both(equal(of_part, kInfinity), equal(across, kInfinity));
  const N nearer = select(less(part, 0.5L), of_part, -across);
  const N difference = select(overflow, nearer, of_part - across);
  // In this order, because for odd s the first two cancel around the middle.
  const N below = select(odd, difference + left_out, of_part + across - left_out);
  const N broken = select(equal(fraction(s), 0), below, like(q, kNan));
  const N pole = select(equal(part, 0), like(q, kInfinity), broken);
  N value = select(less(0, q), zeta_positive(s, q), pole);
  value = select(equal(s, 1), like(q, kInfinity), value);
  const auto defined = both(either(less(1, s), equal(s, 1)), equal(q, q));
  return select(defined, value, like(q, kNan));
}

template <typename N>
N hurwitz_zeta(N s, N q) {
  return zeta_anywhere(s, is_odd(s), q);
}

// 0!, 1!, …, 170!
inline constexpr auto kFactorials = [] {
  std::array<long double, 171> f{1};
  for (std::size_t n = 1; n < f.size(); ++n) f[n] = f[n - 1] * static_cast<long double>(n);
  return f;
}();

// The n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x).
template <typename N>
N polygamma(N n, N x) {
  const N s = n + 1, zeta = zeta_anywhere(s, equal(fraction(n / 2), 0), x);
  const N last = like(n, static_cast<long double>(kFactorials.size() - 1));
  const auto tabled = either(less(n, last), equal(n, last));
  const auto valid = both(equal(fraction(n), 0), either(less(0, n), equal(n, 0)));
  const N index = select(both(tabled, valid), n, like(n, 0));
  const N direct = lookup(Coefficients(kFactorials), index) * zeta;
  // Beyond, by logarithms: the factors lie outside the range of numbers long before the product.
  const auto inside = both(less(0, x), less(x, kInfinity));
  const N size = select(inside, (1 - s) * log(x) + log(zeta_factor(s, x)), log(abs(zeta)));
  const N far = with_sign_of(zeta, exp(log_gamma(s) + size));
  const N value = select(tabled, direct, far);
  const N derivative = select(is_odd(n), value, -value);
  return select(valid, select(equal(n, 0), digamma(x), derivative), like(x, kNan));
}

// ---- Bessel

// exp(-|x|) times the modified Bessel function of the first kind of order 1.
template <typename N>
N bessel_i1e(N x) {
  const N size = abs(x);
  const N near = x * chebyshev(kBesselNear, size / 4 - 1) / (size + 1);
  const N far = chebyshev(kBesselFar, 16 / size - 1) / sqrt(size);
  return select(less(size, 8), near, with_sign_of(x, far));
}

}  // namespace heddle::special
