#include "device/cpu/fft_lines.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "device/cpu/fft_vector.h"

namespace heddle::cpu {

namespace {

constexpr std::int64_t kMostRadix = 31;  // longer ones cost more than a convolution

// The transform of R numbers in place, V: a number of one line, or of some.
template <int R, typename T, typename V>
HEDDLE_INLINE void turn(V (&re)[R], V (&im)[R]) {
  if constexpr (R == 2) {
    const V r = re[0] - re[1], i = im[0] - im[1];
    re[0] += re[1], im[0] += im[1];
    re[1] = r, im[1] = i;
  } else if constexpr (R == 4) {
    const V ar = re[0] + re[2], ai = im[0] + im[2], br = re[0] - re[2], bi = im[0] - im[2];
    const V cr = re[1] + re[3], ci = im[1] + im[3], dr = im[1] - im[3], di = re[3] - re[1];
    re[0] = ar + cr, im[0] = ai + ci;
    re[1] = br + dr, im[1] = bi + di;
    re[2] = ar - cr, im[2] = ai - ci;
    re[3] = br - dr, im[3] = bi - di;
  } else {  // three or five: pairs of opposite roots
    constexpr int kHalf = R / 2;
    constexpr T kCos[] = {R == 3 ? T(-0.5L) : T(0.309016994374947424102293417182819059L),
                          T(-0.809016994374947424102293417182819059L)};
    constexpr T kSin[] = {R == 3 ? T(0.866025403784438646763723170752936183L)
                                 : T(0.951056516295153572116439333379382143L),
                          T(0.587785252292473129168705954639072769L)};
    V sum_re[kHalf], sum_im[kHalf], gap_re[kHalf], gap_im[kHalf];
#pragma GCC unroll 2
    for (int j = 0; j < kHalf; ++j) {
      sum_re[j] = re[j + 1] + re[R - 1 - j], sum_im[j] = im[j + 1] + im[R - 1 - j];
      gap_re[j] = re[j + 1] - re[R - 1 - j], gap_im[j] = im[j + 1] - im[R - 1 - j];
    }
    const V first_re = re[0], first_im = im[0];
#pragma GCC unroll 2
    for (int j = 0; j < kHalf; ++j) re[0] += sum_re[j], im[0] += sum_im[j];
#pragma GCC unroll 2
    for (int k = 1; k <= kHalf; ++k) {
      V even_re = first_re, even_im = first_im, odd_re = {}, odd_im = {};
#pragma GCC unroll 2
      for (int j = 1; j <= kHalf; ++j) {
        const int at = k * j % R, place = std::min(at, R - at) - 1;
        const T sine = at <= kHalf ? kSin[place] : -kSin[place];
        even_re += kCos[place] * sum_re[j - 1], even_im += kCos[place] * sum_im[j - 1];
        odd_re += sine * gap_re[j - 1], odd_im += sine * gap_im[j - 1];
      }
      re[k] = even_re + odd_im, im[k] = even_im - odd_re;
      re[R - k] = even_re - odd_im, im[R - k] = even_im + odd_re;
    }
  }
}

// One pass of Stockham's order: from `side` numbers side by side to R times as many; here those
// that are to be found from `x` and `y` on.
template <int R, typename V, typename T>
HEDDLE_INLINE void some_of_pass(Parts<T> x, Parts<T> y, std::int64_t apart, std::int64_t side,
                                const T* turns) {
  V re[R], im[R];
#pragma GCC unroll 5
  for (int j = 0; j < R; ++j) {
    load_numbers(re[j], x.re + apart * j);
    load_numbers(im[j], x.im + apart * j);
  }
  turn<R, T>(re, im);
  store_numbers(re[0], y.re), store_numbers(im[0], y.im);
#pragma GCC unroll 5
  for (int k = 1; k < R; ++k) {
    const T c = turns[2 * k - 2], s = turns[2 * k - 1];
    store_numbers(V(re[k] * c - im[k] * s), y.re + side * k);
    store_numbers(V(re[k] * s + im[k] * c), y.im + side * k);
  }
}

template <int R, typename T>
HEDDLE_INLINE void pass_body(Parts<T> x, Parts<T> y, std::int64_t rest, std::int64_t side,
                             const T* turns) {
  using Wide = FftVectorOf<T>;
  constexpr std::int64_t kWide = sizeof(Wide) / sizeof(T);
  for (std::int64_t p = 0; p < rest; ++p, turns += 2 * (R - 1)) {
    const Parts<T> from{x.re + side * p, x.im + side * p},
        to{y.re + side * R * p, y.im + side * R * p};
    std::int64_t q = 0;
    for (; q + kWide <= side; q += kWide)
      some_of_pass<R, Wide, T>({from.re + q, from.im + q}, {to.re + q, to.im + q}, side * rest,
                               side, turns);
    for (; q < side; ++q)
      some_of_pass<R, T, T>({from.re + q, from.im + q}, {to.re + q, to.im + q}, side * rest, side,
                            turns);
  }
}

// The same of any radix, by its definition.
template <typename T>
HEDDLE_INLINE void any_pass_body(Parts<T> x, Parts<T> y, std::int64_t radix, std::int64_t rest,
                                 std::int64_t side, const T* turns, const T* circle) {
  for (std::int64_t p = 0; p < rest; ++p, turns += 2 * (radix - 1)) {
    for (std::int64_t k = 0; k < radix; ++k) {
      T* __restrict to_re = y.re + side * (radix * p + k), * __restrict to_im =
                                                               y.im + side * (radix * p + k);
      std::fill_n(to_re, side, T(0)), std::fill_n(to_im, side, T(0));
      for (std::int64_t j = 0; j < radix; ++j) {
        const T *from_re = x.re + side * (p + rest * j), *from_im = x.im + side * (p + rest * j);
        const T c = circle[2 * (k * j % radix)], s = circle[2 * (k * j % radix) + 1];
        for (std::int64_t q = 0; q < side; ++q) {
          to_re[q] += from_re[q] * c - from_im[q] * s;
          to_im[q] += from_re[q] * s + from_im[q] * c;
        }
      }
      if (k == 0) continue;
      const T c = turns[2 * k - 2], s = turns[2 * k - 1];
      for (std::int64_t q = 0; q < side; ++q) {
        const T re = to_re[q], im = to_im[q];
        to_re[q] = re * c - im * s, to_im[q] = re * s + im * c;
      }
    }
  }
}

template <typename T>
HEDDLE_INLINE void pass_of(Parts<T> x, Parts<T> y, std::int64_t radix, std::int64_t rest,
                           std::int64_t side, const T* turns, const T* circle) {
  switch (radix) {
    case 2:
      return pass_body<2>(x, y, rest, side, turns);
    case 3:
      return pass_body<3>(x, y, rest, side, turns);
    case 4:
      return pass_body<4>(x, y, rest, side, turns);
    case 5:
      return pass_body<5>(x, y, rest, side, turns);
    default:
      return any_pass_body(x, y, radix, rest, side, turns, circle);
  }
}

template <typename T>
HEDDLE_WIDE void wide_pass(Parts<T> x, Parts<T> y, std::int64_t radix, std::int64_t rest,
                           std::int64_t side, const T* turns, const T* circle) {
  pass_of(x, y, radix, rest, side, turns, circle);
}
template <typename T>
void plain_pass(Parts<T> x, Parts<T> y, std::int64_t radix, std::int64_t rest, std::int64_t side,
                const T* turns, const T* circle) {
  pass_of(x, y, radix, rest, side, turns, circle);
}

std::vector<std::int64_t> factors_of(std::int64_t n) {
  std::vector<std::int64_t> factors;
  for (const std::int64_t first : {4, 2, 3, 5})
    for (; n % first == 0; n /= first) factors.push_back(first);
  for (std::int64_t p = 7; p * p <= n; p += 2)
    for (; n % p == 0; n /= p) factors.push_back(p);
  if (n > 1) factors.push_back(n);
  return factors;
}

// The least number from `least` on that has no prime factors but 2, 3 and 5.
std::int64_t smooth_from(std::int64_t least) {
  std::int64_t best = 1;
  while (best < least) best *= 2;
  for (std::int64_t fives = 1; fives < best; fives *= 5)
    for (std::int64_t threes = fives; threes < best; threes *= 3) {
      std::int64_t all = threes;
      while (all < least) all *= 2;
      best = std::min(best, all);
    }
  return best;
}

}  // namespace

template <typename T>
void unit_root(std::int64_t k, std::int64_t n, T& re, T& im) {
  // The angle within an eighth of the circle, where sine and cosine lose nothing.
  const __int128 eighths = static_cast<__int128>(k) * 8;
  const int octant = static_cast<int>(eighths / n);
  const auto inside = static_cast<std::int64_t>(eighths % n);
  const bool from_above = octant % 2 == 1;
  const long double angle = std::numbers::pi_v<long double> / 4 *
                            static_cast<long double>(from_above ? n - inside : inside) /
                            static_cast<long double>(n);
  long double c = std::cos(angle), s = std::sin(angle);
  if (from_above) std::swap(c, s);  // at a quarter less the angle
  switch (octant / 2) {
    case 0:
      break;
    case 1:
      std::swap(c, s), c = -c;
      break;
    case 2:
      c = -c, s = -s;
      break;
    default:
      std::swap(c, s), s = -s;
      break;
  }
  re = static_cast<T>(c), im = static_cast<T>(-s);
}

template <typename T>
LineTransform<T>::LineTransform(std::int64_t n) : n_(n) {
  const std::vector<std::int64_t> factors = factors_of(n);
  if (factors.empty() || *std::ranges::max_element(factors) <= kMostRadix) {
    std::int64_t length = n;
    for (const std::int64_t radix : factors) {
      Pass pass{radix, length / radix, {}, {}};
      pass.turns.resize(static_cast<std::size_t>(2 * (radix - 1) * pass.rest));
      T* at = pass.turns.data();
      for (std::int64_t p = 0; p < pass.rest; ++p)
        for (std::int64_t k = 1; k < radix; ++k, at += 2)
          unit_root(p * k % length, length, at[0], at[1]);
      if (radix > 5) {
        pass.circle.resize(static_cast<std::size_t>(2 * radix));
        for (std::int64_t k = 0; k < radix; ++k)
          unit_root(k, radix, pass.circle[static_cast<std::size_t>(2 * k)],
                    pass.circle[static_cast<std::size_t>(2 * k + 1)]);
      }
      passes_.push_back(std::move(pass));
      length /= radix;
    }
    return;
  }
  // jk = (j² + k² - (j - k)²) / 2: a convolution with a chirp between two products with it.
  const std::int64_t m = smooth_from(2 * n - 1);
  way_ = std::make_unique<LineTransform>(m);
  chirp_.resize(static_cast<std::size_t>(2 * n));
  std::vector<double> re(static_cast<std::size_t>(m)), im(re), other_re(re), other_im(re);
  for (std::int64_t k = 0; k < n; ++k) {
    const auto at = static_cast<std::size_t>(k), opposite = static_cast<std::size_t>((m - k) % m);
    const auto turns = static_cast<std::int64_t>(static_cast<__int128>(k) * k % (2 * n));
    unit_root(turns, 2 * n, chirp_[2 * at], chirp_[2 * at + 1]);
    unit_root(turns, 2 * n, re[at], im[at]);
    re[opposite] = re[at], im[opposite] = im[at] = -im[at];
  }
  const LineTransform<double> exact(m);
  const Parts<double> done =
      exact.run({re.data(), im.data()}, {other_re.data(), other_im.data()}, 1);
  for (std::int64_t k = 0; k < m; ++k)
    for (const double part : {done.re[k], done.im[k]})
      spectrum_.push_back(static_cast<T>(part / static_cast<double>(m)));
}

template <typename T>
Parts<T> LineTransform<T>::run(Parts<T> data, Parts<T> room, std::int64_t lines) const {
  if (way_) return convolve(data, room, lines);
  std::int64_t side = lines;
  for (const Pass& pass : passes_) {
    const auto go = has_wide_vectors() ? wide_pass<T> : plain_pass<T>;
    go(data, room, pass.radix, pass.rest, side, pass.turns.data(), pass.circle.data());
    std::swap(data, room);
    side *= pass.radix;
  }
  return data;
}

namespace {

// Every number k of all lines times factor k.
template <typename T>
void multiply(Parts<T> data, const T* factors, std::int64_t count, std::int64_t lines) {
  for (std::int64_t k = 0; k < count; ++k) {
    const T c = factors[2 * k], s = factors[2 * k + 1];
    for (std::int64_t at = k * lines; at < (k + 1) * lines; ++at) {
      const T re = data.re[at], im = data.im[at];
      data.re[at] = re * c - im * s, data.im[at] = re * s + im * c;
    }
  }
}

}  // namespace

template <typename T>
Parts<T> LineTransform<T>::convolve(Parts<T> data, Parts<T> room, std::int64_t lines) const {
  const std::int64_t m = way_->space();
  multiply(data, chirp_.data(), n_, lines);
  std::fill(data.re + n_ * lines, data.re + m * lines, T(0));
  std::fill(data.im + n_ * lines, data.im + m * lines, T(0));
  const bool is_there = way_->run(data, room, lines).re == data.re;
  if (!is_there) std::swap(data, room);
  multiply(data, spectrum_.data(), m, lines);
  const Parts<T> result = way_->run_back(data, room, lines);
  multiply(result, chirp_.data(), n_, lines);
  return result;
}

template class LineTransform<float>;
template class LineTransform<double>;
template void unit_root(std::int64_t, std::int64_t, float&, float&);
template void unit_root(std::int64_t, std::int64_t, double&, double&);

}  // namespace heddle::cpu
