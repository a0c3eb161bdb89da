#include "device/cpu/fft_order.h"

#include <utility>

#include "device/cpu/fft_vector.h"

namespace heddle::cpu {

namespace {

// The first halves of two vectors, number by number in turns, and the second ones.
template <typename V, std::size_t... I>
HEDDLE_INLINE void interleave(const V& a, const V& b, V& low, V& high, std::index_sequence<I...>) {
  constexpr std::size_t kCount = sizeof...(I);
  low = __builtin_shufflevector(a, b, (I % 2 == 0 ? I / 2 : kCount + I / 2)...);
  high = __builtin_shufflevector(a, b, (kCount / 2 + (I % 2 == 0 ? I / 2 : kCount + I / 2))...);
}

// The numbers at even places of two vectors, and those at odd ones.
template <typename V, std::size_t... I>
HEDDLE_INLINE void separate(const V& a, const V& b, V& even, V& odd, std::index_sequence<I...>) {
  even = __builtin_shufflevector(a, b, (2 * I)...);
  odd = __builtin_shufflevector(a, b, (2 * I + 1)...);
}

// Rows to columns: interleaving rows that are half of them apart does it, once for each bit.
template <typename V, std::size_t N>
HEDDLE_INLINE void transpose(V (&rows)[N]) {
#pragma GCC unroll 4
  for (std::size_t bit = 1; bit < N; bit *= 2) {
    V next[N];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < N / 2; ++i)
      interleave(rows[i], rows[i + N / 2], next[2 * i], next[2 * i + 1],
                 std::make_index_sequence<N>());
#pragma GCC unroll 8
    for (std::size_t i = 0; i < N; ++i) rows[i] = next[i];
  }
}

template <typename T>
HEDDLE_INLINE T& part_of_number(Parts<T> parts, std::int64_t number, std::int64_t line) {
  return (number % 2 == 0 ? parts.re : parts.im)[number / 2 * kSide + line];
}

template <typename T>
HEDDLE_INLINE void take_rows_body(const T* lines, std::int64_t apart, std::int64_t count,
                                  Parts<T> to) {
  using V = FftVectorOf<T>;
  constexpr std::int64_t kWidth = sizeof(V) / sizeof(T);
  std::int64_t at = 0;
  for (; at + kWidth <= 2 * count; at += kWidth)
    for (std::int64_t line = 0; line < kSide; line += kWidth) {
      V rows[kWidth];
#pragma GCC unroll 8
      for (std::int64_t i = 0; i < kWidth; ++i)
        load_numbers(rows[i], lines + (line + i) * apart + at);
      transpose(rows);
#pragma GCC unroll 8
      for (std::int64_t i = 0; i < kWidth; ++i)
        store_numbers(rows[i], &part_of_number(to, at + i, line));
    }
  for (; at < 2 * count; ++at)
    for (std::int64_t line = 0; line < kSide; ++line)
      part_of_number(to, at, line) = lines[line * apart + at];
}

template <typename T>
HEDDLE_INLINE void give_rows_body(Parts<T> from, T* lines, std::int64_t apart, std::int64_t count,
                                  T scale) {
  using V = FftVectorOf<T>;
  constexpr std::int64_t kWidth = sizeof(V) / sizeof(T);
  std::int64_t at = 0;
  for (; at + kWidth <= 2 * count; at += kWidth)
    for (std::int64_t line = 0; line < kSide; line += kWidth) {
      V rows[kWidth];
#pragma GCC unroll 8
      for (std::int64_t i = 0; i < kWidth; ++i) {
        load_numbers(rows[i], &part_of_number(from, at + i, line));
        rows[i] *= scale;
      }
      transpose(rows);
#pragma GCC unroll 8
      for (std::int64_t i = 0; i < kWidth; ++i)
        store_numbers(rows[i], lines + (line + i) * apart + at);
    }
  for (; at < 2 * count; ++at)
    for (std::int64_t line = 0; line < kSide; ++line)
      lines[line * apart + at] = part_of_number(from, at, line) * scale;
}

template <typename T>
HEDDLE_INLINE void take_columns_body(const T* lines, std::int64_t apart, std::int64_t count,
                                     Parts<T> to) {
  using V = FftVectorOf<T>;
  constexpr std::int64_t kWidth = sizeof(V) / sizeof(T);
  for (std::int64_t k = 0; k < count; ++k, lines += apart)
    for (std::int64_t line = 0; line < kSide; line += kWidth) {
      V a, b, re, im;
      load_numbers(a, lines + 2 * line);
      load_numbers(b, lines + 2 * line + kWidth);
      separate(a, b, re, im, std::make_index_sequence<kWidth>());
      store_numbers(re, to.re + k * kSide + line);
      store_numbers(im, to.im + k * kSide + line);
    }
}

template <typename T>
HEDDLE_INLINE void give_columns_body(Parts<T> from, T* lines, std::int64_t apart,
                                     std::int64_t count, T scale) {
  using V = FftVectorOf<T>;
  constexpr std::int64_t kWidth = sizeof(V) / sizeof(T);
  for (std::int64_t k = 0; k < count; ++k, lines += apart)
    for (std::int64_t line = 0; line < kSide; line += kWidth) {
      V re, im, low, high;
      load_numbers(re, from.re + k * kSide + line);
      load_numbers(im, from.im + k * kSide + line);
      re *= scale, im *= scale;
      interleave(re, im, low, high, std::make_index_sequence<kWidth>());
      store_numbers(low, lines + 2 * line);
      store_numbers(high, lines + 2 * line + kWidth);
    }
}

template <typename V, typename T>
HEDDLE_INLINE void join_numbers(T* near_re, T* near_im, T* far_re, T* far_im, T turn, T s,
                                T scale) {
  V ar, ai, br, bi;
  load_numbers(ar, near_re), load_numbers(ai, near_im);
  load_numbers(br, far_re), load_numbers(bi, far_im);
  const V even_re = ar + br, even_im = ai - bi, gap_re = ar - br, gap_im = ai + bi;
  const V odd_re = gap_re * s - gap_im * turn, odd_im = gap_re * turn + gap_im * s;
  store_numbers(V((even_re + odd_re) * scale), near_re);
  store_numbers(V((even_im + odd_im) * scale), near_im);
  store_numbers(V((even_re - odd_re) * scale), far_re);
  store_numbers(V((odd_im - even_im) * scale), far_im);
}

template <typename T>
HEDDLE_INLINE void join_body(Parts<T> data, const T* roots, std::int64_t half, bool to_real,
                             T scale, std::int64_t side) {
  using V = FftVectorOf<T>;
  constexpr std::int64_t kWidth = sizeof(V) / sizeof(T);
  for (std::int64_t k = 0; 2 * k <= half; ++k) {
    // To complex numbers odd places turn by i times the conjugate of the root, back by -i times the
    // root.
    const T c = roots[2 * k], s = roots[2 * k + 1], turn = to_real ? c : -c;
    T *near_re = data.re + k * side, *near_im = data.im + k * side;
    T *far_re = data.re + (half - k) * side, *far_im = data.im + (half - k) * side;
    std::int64_t q = 0;
    for (; q + kWidth <= side; q += kWidth)
      join_numbers<V>(near_re + q, near_im + q, far_re + q, far_im + q, turn, s, scale);
    for (; q < side; ++q)
      join_numbers<T>(near_re + q, near_im + q, far_re + q, far_im + q, turn, s, scale);
  }
}

// Each body for wide vectors and without; the one that the processor has.
#define HEDDLE_BOTH(name, body, parameters, arguments) \
  template <typename T>                                \
  HEDDLE_WIDE void wide_##name parameters {            \
    body arguments;                                    \
  }                                                    \
  template <typename T>                                \
  void plain_##name parameters {                       \
    body arguments;                                    \
  }

HEDDLE_BOTH(take_rows, take_rows_body,
            (const T* lines, std::int64_t apart, std::int64_t count, Parts<T> to),
            (lines, apart, count, to))
HEDDLE_BOTH(give_rows, give_rows_body,
            (Parts<T> from, T* lines, std::int64_t apart, std::int64_t count, T scale),
            (from, lines, apart, count, scale))
HEDDLE_BOTH(take_columns, take_columns_body,
            (const T* lines, std::int64_t apart, std::int64_t count, Parts<T> to),
            (lines, apart, count, to))
HEDDLE_BOTH(give_columns, give_columns_body,
            (Parts<T> from, T* lines, std::int64_t apart, std::int64_t count, T scale),
            (from, lines, apart, count, scale))
HEDDLE_BOTH(join, join_body,
            (Parts<T> data, const T* roots, std::int64_t half, bool to_real, T scale,
             std::int64_t side),
            (data, roots, half, to_real, scale, side))
#undef HEDDLE_BOTH

}  // namespace

template <typename T>
void take_rows(const T* lines, std::int64_t apart, std::int64_t count, Parts<T> to) {
  (has_wide_vectors() ? wide_take_rows<T> : plain_take_rows<T>)(lines, apart, count, to);
}
template <typename T>
void give_rows(Parts<T> from, T* lines, std::int64_t apart, std::int64_t count, T scale) {
  (has_wide_vectors() ? wide_give_rows<T> : plain_give_rows<T>)(from, lines, apart, count, scale);
}
template <typename T>
void take_columns(const T* lines, std::int64_t apart, std::int64_t count, Parts<T> to) {
  (has_wide_vectors() ? wide_take_columns<T> : plain_take_columns<T>)(lines, apart, count, to);
}
template <typename T>
void give_columns(Parts<T> from, T* lines, std::int64_t apart, std::int64_t count, T scale) {
  (has_wide_vectors() ? wide_give_columns<T> : plain_give_columns<T>)(from, lines, apart, count,
                                                                      scale);
}
template <typename T>
void join_halves(Parts<T> data, const T* roots, std::int64_t half, bool to_real, T scale,
                 std::int64_t side) {
  (has_wide_vectors() ? wide_join<T> : plain_join<T>)(data, roots, half, to_real, scale, side);
}

#define HEDDLE_FOR(T)                                                         \
  template void take_rows(const T*, std::int64_t, std::int64_t, Parts<T>);    \
  template void give_rows(Parts<T>, T*, std::int64_t, std::int64_t, T);       \
  template void take_columns(const T*, std::int64_t, std::int64_t, Parts<T>); \
  template void give_columns(Parts<T>, T*, std::int64_t, std::int64_t, T);    \
  template void join_halves(Parts<T>, const T*, std::int64_t, bool, T, std::int64_t);
HEDDLE_FOR(float)
HEDDLE_FOR(double)
#undef HEDDLE_FOR

}  // namespace heddle::cpu
