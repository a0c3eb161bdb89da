// Types and operations of the CUDA text. Each means what the reference evaluation means; f16 and
// bf16 go through f32, and functions are as accurate as CUDA's.
#include "kernel/emit_cuda.h"

namespace heddle {

namespace {

constexpr std::string_view kTypes = R"cuda(
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char ui8;
typedef unsigned short ui16;
typedef unsigned int ui32;
typedef unsigned long long ui64;
typedef float f32;
typedef double f64;
struct f16 { ui16 bits; };
struct bf16 { ui16 bits; };

template <class T> struct Of { typedef T Unsigned; typedef T Signed; };
template <> struct Of<i8> { typedef ui8 Unsigned; typedef i8 Signed; };
template <> struct Of<i16> { typedef ui16 Unsigned; typedef i16 Signed; };
template <> struct Of<i32> { typedef ui32 Unsigned; typedef i32 Signed; };
template <> struct Of<i64> { typedef ui64 Unsigned; typedef i64 Signed; };
template <> struct Of<ui8> { typedef ui8 Unsigned; typedef i8 Signed; };
template <> struct Of<ui16> { typedef ui16 Unsigned; typedef i16 Signed; };
template <> struct Of<ui32> { typedef ui32 Unsigned; typedef i32 Signed; };
template <> struct Of<ui64> { typedef ui64 Unsigned; typedef i64 Signed; };
template <class A, class B> struct Same { static const bool value = false; };
template <class A> struct Same<A, A> { static const bool value = true; };
template <class T> constexpr bool is_small = Same<T, f16>::value || Same<T, bf16>::value;
template <class T> constexpr bool is_real = is_small<T> || Same<T, f32>::value || Same<T, f64>::value;
template <class T> constexpr bool is_truth = Same<T, bool>::value;
template <class T> constexpr bool is_signed_int = !is_real<T> && T(-1) < T(0);

// What a type is computed in: sums, products, quotients and roots of f16 and bf16 are as if rounded
// once, since f32 has more than twice their digits.
__device__ f32 wide(f32 x) { return x; }
__device__ f64 wide(f64 x) { return x; }
__device__ f32 wide(f16 x) {
  f32 y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
__device__ f32 wide(bf16 x) { return __int_as_float((int)((ui32)x.bits << 16)); }

template <class T> __device__ T narrow(f32 x) {
  if constexpr (Same<T, f16>::value) {
    ui16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    if (isnan(x)) bits = (ui16)((signbit(x) ? 0x8000 : 0) | 0x7e00);
    return f16{bits};
  } else if constexpr (Same<T, bf16>::value) {
#if __CUDA_ARCH__ >= 900
    ui16 small;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(small) : "f"(x));
    return bf16{small};
#endif
    const ui32 bits = (ui32)__float_as_int(x);
    if (isnan(x)) return bf16{(ui16)((signbit(x) ? 0x8000 : 0) | 0x7fc0)};
    return bf16{(ui16)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
  } else {
    return (T)x;
  }
}
template <class T> __device__ T narrow(f64 x) {
  if constexpr (is_small<T>) {
    // The last bit says that something was cut off, so that rounding twice does no harm.
    const f32 cut = __double2float_rz(x);
    const bool exact = (f64)cut == x || isnan(x);
    return narrow<T>(exact ? cut : __int_as_float(__float_as_int(cut) | 1));
  } else {
    return (T)x;
  }
}

template <class T> __device__ T h_constant(ui64 bits) {
  if constexpr (is_truth<T>) return (bits & 0xff) != 0;
  else if constexpr (Same<T, f64>::value) return __longlong_as_double((i64)bits);
  else if constexpr (Same<T, f32>::value) return __int_as_float((int)bits);
  else if constexpr (is_small<T>) return T{(ui16)bits};
  else return (T)bits;
}
)cuda";

constexpr std::string_view kConversions = R"cuda(
template <class T, class From> __device__ T int_from_real(From from) {
  if constexpr (sizeof(T) <= 4 && sizeof(From) <= 4) {
    // The processor's own keeps to the range of 32 bits, and makes 0 of what is no number.
    if constexpr (!is_signed_int<T>) {
      const ui32 whole = __float2uint_rz(wide(from));
      return (T)(sizeof(T) < 4 ? min(whole, (ui32)(T)~(T)0) : whole);
    } else {
      const i32 most = (i32)(0x7fffffffu >> (32 - 8 * (int)sizeof(T)));
      return (T)max(min(__float2int_rz(wide(from)), most), -most - 1);
    }
  }
  const f64 x = wide(from);
  if (isnan(x)) return 0;
  const f64 whole = trunc(x);
  const int digits = (int)sizeof(T) * 8 - (is_signed_int<T> ? 1 : 0);
  const T most = (T)(~(ui64)0 >> (64 - digits)), least = is_signed_int<T> ? (T)~most : (T)0;
  if (whole >= scalbn(1.0, digits)) return most;
  if (whole < (double)least) return least;
  return (T)whole;
}
template <class T, class From> __device__ T real_from_int(From x) {
  if constexpr (!is_small<T>) {
    return (T)x;
  } else if constexpr (sizeof(From) <= 2) {
    return narrow<T>((f32)x);
  } else {
    // What does not fit into a double keeps a sticky bit, so that rounding twice does no harm.
    const bool negative = x < 0;
    ui64 size = negative ? 0 - (ui64)x : (ui64)x;
    if (size >> 53) size = (size & ~(ui64)0x7ff) | (size & 0x7ff ? 0x800 : 0);
    return narrow<T>(negative ? -(f64)size : (f64)size);
  }
}
template <class T, class From> __device__ T h_convert(From x) {
  if constexpr (Same<T, From>::value) return x;
  else if constexpr (is_truth<From>) return h_convert<T>((ui8)(x ? 1 : 0));
  else if constexpr (is_truth<T> && is_real<From>) return wide(x) != 0;
  else if constexpr (is_truth<T>) return x != 0;
  else if constexpr (is_real<T> && is_real<From>) return narrow<T>(wide(x));
  else if constexpr (is_real<T>) return real_from_int<T>(x);
  else if constexpr (is_real<From>) return int_from_real<T>(x);
  else return (T)x;
}
template <class T, class From> __device__ T h_bitcast(From x) {
  T to;
  memcpy(&to, &x, sizeof(T));
  return to;
}
)cuda";

constexpr std::string_view kArithmetic = R"cuda(
template <class T> __device__ T h_abs(T x) {
  if constexpr (is_small<T>) return T{(ui16)(x.bits & 0x7fff)};
  else if constexpr (is_real<T>) return fabs(x);
  else return x < 0 ? (T)(0 - (ui64)x) : x;
}
template <class T> __device__ T h_negate(T x) {
  if constexpr (is_small<T>) return T{(ui16)(x.bits ^ 0x8000)};
  else if constexpr (is_real<T>) return -x;
  else return (T)(0 - (ui64)x);
}
template <class T> __device__ T h_sign(T x) {
  if constexpr (is_real<T>) {
    const auto w = wide(x);
    return isnan(w) || w == 0 ? x : narrow<T>(w < 0 ? -1.0f : 1.0f);
  } else {
    return (T)((x > 0) - (x < 0));
  }
}
template <class T> __device__ T h_not(T x) {
  if constexpr (is_truth<T>) return !x;
  else return (T)~x;
}
template <class T> __device__ bool h_is_finite(T x) { return isfinite(wide(x)); }
template <class T> __device__ T h_popcnt(T x) {
  return (T)__popcll((i64)(ui64)(typename Of<T>::Unsigned)x);
}
template <class T> __device__ T h_clz(T x) {
  return (T)(__clzll((i64)(ui64)(typename Of<T>::Unsigned)x) - 64 + 8 * (int)sizeof(T));
}
template <class T> __device__ T h_add(T x, T y) {
  if constexpr (is_truth<T>) return x || y;
  else if constexpr (is_small<T>) return narrow<T>(wide(x) + wide(y));
  else if constexpr (is_real<T>) return x + y;
  else return (T)((ui64)x + (ui64)y);
}
// A product that is summed rounds with its sum.
__device__ f32 add_product(f32 x, f32 y, f32 to) { return fmaf(x, y, to); }
__device__ f64 add_product(f64 x, f64 y, f64 to) { return fma(x, y, to); }
template <class T> __device__ T h_subtract(T x, T y) {
  if constexpr (is_small<T>) return narrow<T>(wide(x) - wide(y));
  else if constexpr (is_real<T>) return x - y;
  else return (T)((ui64)x - (ui64)y);
}
template <class T> __device__ T h_multiply(T x, T y) {
  if constexpr (is_truth<T>) return x && y;
  else if constexpr (is_small<T>) return narrow<T>(wide(x) * wide(y));
  else if constexpr (is_real<T>) return x * y;
  else return (T)((ui64)x * (ui64)y);
}
// A number to divide by, moved to where its inverse is a normal number, and that inverse.
struct Divisor { f32 y, inverse, scale; };
__device__ f32 divisor_scale(f32 y) {
  const f32 size = fabsf(y);
  return size > 0x1p125f ? 0x1p-64f : size < 0x1p-125f ? 0x1p64f : 1.0f;
}
__device__ f32 near_inverse(f32 y) {
  f32 inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(y));
  return inverse;
}
// A product, put right by what remains: as a division gives, without its branches. What is zero,
// infinite or no number is right as it is.
__device__ f32 quotient(f32 x, f32 of) {
  const f32 scale = divisor_scale(of), y = of * scale, inverse = near_inverse(y);
  x = x * scale;
  const f32 near = x * inverse;
  const f32 result = fmaf(fmaf(-y, near, x), inverse, near);
  const f32 size = fabsf(near);
  return size > 0.0f && size < __int_as_float(0x7f800000) ? result : near;
}
// One for many quotients has its sign in the scale, and 0 in place of infinity: then zeros come out
// right by themselves.
__device__ Divisor over(f32 of) {
  const f32 scale = divisor_scale(of), y = fabsf(of) * scale;
  return {y == __int_as_float(0x7f800000) ? 0.0f : y, near_inverse(y), copysignf(scale, of)};
}
__device__ f32 divide_by(f32 x, const Divisor& by) {
  x = x * by.scale;
  const f32 near = x * by.inverse;
  const f32 result = fmaf(-fmaf(by.y, near, -x), by.inverse, near);
  return fabsf(near) < __int_as_float(0x7f800000) ? result : near;
}
// For what is narrowed to at most 11 digits at once: within two units.
__device__ f32 divide_nearly(f32 x, const Divisor& by) { return x * by.scale * by.inverse; }
// By zero: all ones, and the dividend remains; the smallest integer over -1 wraps.
template <class T> __device__ bool quotient_overflows(T x, T y) {
  return is_signed_int<T> && y == (T)-1 && x == (T)((ui64)1 << (8 * sizeof(T) - 1));
}
template <class T> __device__ T h_divide(T x, T y) {
  if constexpr (is_real<T> && sizeof(T) <= 4) return narrow<T>(quotient(wide(x), wide(y)));
  else if constexpr (is_real<T>) return x / y;
  else return y == 0 ? (T)-1 : (quotient_overflows(x, y) ? x : (T)(x / y));
}
template <class T> __device__ T h_remainder(T x, T y) {
  if constexpr (is_real<T>) return narrow<T>(fmod(wide(x), wide(y)));
  else return y == 0 ? x : (quotient_overflows(x, y) ? (T)0 : (T)(x % y));
}
// NaN wins, and -0 is below +0.
template <bool kMaximum, class T> __device__ T extremum(T x, T y) {
  if constexpr (is_truth<T>) {
    return kMaximum ? x || y : x && y;
#if __CUDA_ARCH__ >= 800
  } else if constexpr (is_real<T> && sizeof(T) <= 4) {
    f32 of;
    if constexpr (kMaximum) asm("max.NaN.f32 %0, %1, %2;" : "=f"(of) : "f"(wide(x)), "f"(wide(y)));
    else asm("min.NaN.f32 %0, %1, %2;" : "=f"(of) : "f"(wide(x)), "f"(wide(y)));
    return narrow<T>(of);
#endif
  } else if constexpr (is_real<T>) {
    const auto a = wide(x), b = wide(y);
    if (isnan(a)) return x;
    if (isnan(b)) return y;
    if (a == b) return (signbit(a) != 0) == kMaximum ? y : x;
    return (kMaximum ? a > b : a < b) ? x : y;
  } else if constexpr (sizeof(T) <= 4) {
    // ptxas 13.0 takes two of them as one instruction and then forgets that operands are negated: the
    // permutation, which changes nothing, keeps them apart.
    i32 of = (i32)((kMaximum ? x > y : x < y) ? x : y);
    asm("prmt.b32 %0, %0, 0, 0x3210;" : "+r"(of));
    return (T)of;
  } else {
    return (kMaximum ? x > y : x < y) ? x : y;
  }
}
template <class T> __device__ T h_minimum(T x, T y) { return extremum<false>(x, y); }
template <class T> __device__ T h_maximum(T x, T y) { return extremum<true>(x, y); }
template <class T> __device__ T h_clamp(T low, T x, T high) {
  return h_minimum(h_maximum(x, low), high);
}
template <class T> __device__ T h_select(bool c, T yes, T no) { return c ? yes : no; }
)cuda";

constexpr std::string_view kBitsAndOrder = R"cuda(
template <class T> __device__ T h_and(T x, T y) {
  if constexpr (is_truth<T>) return x && y;
  else return (T)(x & y);
}
template <class T> __device__ T h_or(T x, T y) {
  if constexpr (is_truth<T>) return x || y;
  else return (T)(x | y);
}
template <class T> __device__ T h_xor(T x, T y) {
  if constexpr (is_truth<T>) return x != y;
  else return (T)(x ^ y);
}
// Amounts count as unsigned; from the width on, every bit is shifted out.
template <class T> __device__ bool shifts_all_out(T n) {
  return (typename Of<T>::Unsigned)n >= 8 * sizeof(T);
}
template <class T> __device__ T h_shift_left(T x, T n) {
  return shifts_all_out(n) ? (T)0 : (T)((ui64)x << (int)n);
}
template <class T> __device__ T h_shift_right_logical(T x, T n) {
  return shifts_all_out(n) ? (T)0 : (T)((typename Of<T>::Unsigned)x >> (int)n);
}
template <class T> __device__ T h_shift_right_arithmetic(T x, T n) {
  const typename Of<T>::Signed value = (typename Of<T>::Signed)x;
  if (shifts_all_out(n)) return (T)(value < 0 ? -1 : 0);
  return (T)(value >> (int)n);
}
#define COMPARISON(name, sign)                             \
  template <class T> __device__ bool name(T x, T y) {      \
    if constexpr (is_real<T>) return wide(x) sign wide(y); \
    else return x sign y;                                  \
  }
COMPARISON(h_equal, ==)
COMPARISON(h_not_equal, !=)
COMPARISON(h_less, <)
COMPARISON(h_less_equal, <=)
COMPARISON(h_greater, >)
COMPARISON(h_greater_equal, >=)
)cuda";

constexpr std::string_view kFunctions = R"cuda(
// As accurate as the last digit or two of what it is computed in.
#define FUNCTION(name, of_f32, of_f64)                \
  __device__ f32 name##_of(f32 x) { return of_f32; }  \
  __device__ f64 name##_of(f64 x) { return of_f64; }  \
  template <class T> __device__ T name(T of) { return narrow<T>(name##_of(wide(of))); }
FUNCTION(h_floor, floorf(x), floor(x))
FUNCTION(h_ceil, ceilf(x), ceil(x))
FUNCTION(h_round_even, rintf(x), rint(x))
FUNCTION(h_round_away, roundf(x), round(x))
// As a division: what remains puts the root right. Very small numbers are moved up for that.
__device__ f32 root(f32 x) {
  const bool is_small = x < 0x1p-100f;
  const f32 up = is_small ? x * 0x1p64f : x;
  f32 inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(up));
  const f32 near = up * inverse;
  const f32 result = fmaf(fmaf(-near, near, up), 0.5f * inverse, near) * (is_small ? 0x1p-32f : 1.0f);
  return x == 0.0f || x == __int_as_float(0x7f800000) ? x : result;
}
// Of what is at least 1, within one unit. A quarter of it has an inverse that is a normal number.
__device__ f32 inverse_of(f32 x) { return near_inverse(x * 0.25f) * 0.25f; }
FUNCTION(h_sqrt, root(x), sqrt(x))
FUNCTION(h_rsqrt, rsqrtf(x), 1 / sqrt(x))
FUNCTION(h_cbrt, cbrtf(x), cbrt(x))
FUNCTION(h_exp, expf(x), exp(x))
FUNCTION(h_expm1, expm1f(x), expm1(x))
FUNCTION(h_log, logf(x), log(x))
FUNCTION(h_log1p, log1pf(x), log1p(x))
FUNCTION(h_sin, sinf(x), sin(x))
FUNCTION(h_cos, cosf(x), cos(x))
FUNCTION(h_tanh, tanhf(x), tanh(x))
FUNCTION(h_logistic, inverse_of(1 + expf(-x)), 1 / (1 + exp(-x)))
FUNCTION(h_erf, erff(x), erf(x))
// Rare ones, of which those of f32 are less accurate.
template <class T> __device__ T h_tan(T x) { return narrow<T>(tan((f64)wide(x))); }
template <class T> __device__ T h_atan2(T y, T x) {
  return narrow<T>(atan2((f64)wide(y), (f64)wide(x)));
}
// Of integers a negative exponent gives 1 / base^n: 0 unless the base is 1 or -1.
template <class T> __device__ T h_power(T x, T y) {
  if constexpr (is_real<T>) {
    return narrow<T>(pow((f64)wide(x), (f64)wide(y)));
  } else {
    ui64 left = (ui64)y;
    if (y < 0) {
      if (x != (T)1 && x != (T)-1) return 0;
      left = 0 - left;
    }
    ui64 square = (ui64)x, result = 1;
    for (; left != 0; left >>= 1, square *= square)
      if (left & 1) result *= square;
    return (T)result;
  }
}
)cuda";

// Neighbouring elements, read and written by as few accesses as there can be.
constexpr std::string_view kVectors = R"cuda(
template <class T, int N> struct Vec { T at[N]; };
template <int kBytes> struct Word { typedef uint4 Type; };
template <> struct Word<8> { typedef uint2 Type; };
template <> struct Word<4> { typedef unsigned Type; };
template <> struct Word<2> { typedef unsigned short Type; };
template <class T, int N> __device__ Vec<T, N> load_vec(const T* from) {
  const int bytes = N * (int)sizeof(T);
  typedef typename Word<(bytes < 16 ? bytes : 16)>::Type W;
  W words[bytes / sizeof(W)];
#pragma unroll
  for (int i = 0; i < (int)(bytes / sizeof(W)); ++i) words[i] = ((const W*)from)[i];
  Vec<T, N> to;
  memcpy(&to, words, bytes);
  return to;
}
// Of memory that the kernel does not write, so that it can be asked for early.
template <class T, int N> __device__ Vec<T, N> read_vec(const T* from) {
  const int bytes = N * (int)sizeof(T);
  Vec<T, N> to;
  if constexpr (bytes == 1 || bytes == 2 && sizeof(T) == 1) {
    for (int i = 0; i < N; ++i) to.at[i] = from[i];
  } else {
    typedef typename Word<(bytes < 16 ? bytes : 16)>::Type W;
    W words[bytes / sizeof(W)];
#pragma unroll
    for (int i = 0; i < (int)(bytes / sizeof(W)); ++i) words[i] = __ldg((const W*)from + i);
    memcpy(&to, words, bytes);
  }
  return to;
}
// One of neighbours as f32, by one instruction: two of them are one word.
template <int kAt, int N> __device__ f32 wide_at(const Vec<bf16, N>& of) {
  ui32 words[N / 2];
  memcpy(words, &of, 2 * N);
  return __int_as_float((int)(kAt % 2 == 0 ? words[kAt / 2] << 16 : words[kAt / 2] & 0xffff0000u));
}
// The larger or smaller of two neighbours each, which are in one word.
template <bool kMaximum, class T> __device__ ui32 extremum_of_two(ui32 x, ui32 y) {
#if __CUDA_ARCH__ >= 800
  ui32 of;
  if constexpr (kMaximum && Same<T, bf16>::value) asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(of) : "r"(x), "r"(y));
  else if constexpr (kMaximum) asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(of) : "r"(x), "r"(y));
  else if constexpr (Same<T, bf16>::value) asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(of) : "r"(x), "r"(y));
  else asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(of) : "r"(x), "r"(y));
  return of;
#else
  const T low = extremum<kMaximum>(T{(ui16)x}, T{(ui16)y});
  const T high = extremum<kMaximum>(T{(ui16)(x >> 16)}, T{(ui16)(y >> 16)});
  return low.bits | (ui32)high.bits << 16;
#endif
}
// The largest or smallest so far, by pairs, and of both of a pair.
template <bool kMaximum, class T, int N> __device__ void note_pairs(ui32& most, const Vec<T, N>& of) {
  ui32 words[N / 2];
  memcpy(words, &of, 2 * N);
#pragma unroll
  for (int i = 0; i < N / 2; ++i) most = extremum_of_two<kMaximum, T>(most, words[i]);
}
template <bool kMaximum, class T> __device__ f32 extremum_of_pair(ui32 pair) {
  return extremum<kMaximum>(wide(T{(ui16)pair}), wide(T{(ui16)(pair >> 16)}));
}
// Two neighbours as one word of bf16.
__device__ ui32 narrow_two(f32 x, f32 y) {
#if __CUDA_ARCH__ >= 900
  ui32 both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(y), "f"(x));
  return both;
#else
  return narrow<bf16>(x).bits | (ui32)narrow<bf16>(y).bits << 16;
#endif
}
#if __CUDA_ARCH__ >= 890
// The nearest floats of 8 bits. The processor's own stop at the largest number: beyond it is
// infinity, or no number.
template <bool kInfinities, int N> __device__ void narrow_float8(ui8* to, const f32 (&from)[N]) {
  const f32 most = kInfinities ? 61439.996f : 464.0f;
  bool fit = true;
#pragma unroll
  for (int i = 0; i < N; i += 2) {
    ui16 both;
    if constexpr (kInfinities)
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(both) : "f"(from[i + 1]), "f"(from[i]));
    else
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(from[i + 1]), "f"(from[i]));
    memcpy(to + i, &both, 2);
    fit = fit && fabsf(from[i]) <= most && fabsf(from[i + 1]) <= most;
  }
  if (fit) return;
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (!(fabsf(from[i]) <= most))
      to[i] = (ui8)((kInfinities ? (isnan(from[i]) ? 0x7e : 0x7c) : 0x7f) | (signbit(from[i]) ? 0x80 : 0));
}
#endif
template <class T, int N> __device__ void store_vec(T* to, const Vec<T, N>& from) {
  const int bytes = N * (int)sizeof(T);
  typedef typename Word<(bytes < 16 ? bytes : 16)>::Type W;
  W words[bytes / sizeof(W)];
  memcpy(words, &from, bytes);
#pragma unroll
  for (int i = 0; i < (int)(bytes / sizeof(W)); ++i) ((W*)to)[i] = words[i];
}
// To memory that all blocks see, 16 bytes by one access whatever the compiler thinks of it. It keeps
// the order of accesses around it, which costs some kernels 5 %.
template <class T, int N> __device__ void put_vec(T* to, const Vec<T, N>& from) {
  if constexpr (N * (int)sizeof(T) % 16 != 0) {
    store_vec<T, N>(to, from);
  } else {
    uint4 words[N * sizeof(T) / 16];
    memcpy(words, &from, sizeof(words));
#pragma unroll
    for (int i = 0; i < (int)(sizeof(words) / 16); ++i)
      asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global((uint4*)to + i)),
                   "r"(words[i].x), "r"(words[i].y), "r"(words[i].z), "r"(words[i].w) : "memory");
  }
}
)cuda";

// Rows of an input in shared memory, by accesses of 16 bytes, kN of them a row. Those that a warp
// reads at a time, of neighbouring rows or of rows eight apart, lie in different banks.
constexpr std::string_view kTiles = R"cuda(
template <int kN> __device__ unsigned tile_line(unsigned row, unsigned access) {
  return (row * kN + access) ^ (row / 8 * kN & 7);
}
template <class T, int kStride, int kN> __device__ const T* in_tile(const T* tile, i64 index) {
  const unsigned per = 16 / sizeof(T);
  const unsigned at = (unsigned)index, row = at / kStride, rest = at % kStride;
  return tile + tile_line<kN>(row, rest / per) * per + rest % per;
}
template <class T, int kRows, int kStride, int kN, int kThreads>
__device__ void bring_tile(T* tile, const T* from) {
  const unsigned per = 16 / sizeof(T);
#pragma unroll 8
  for (unsigned at = threadIdx.x; at < kRows * kN; at += kThreads) {
    const unsigned row = at / kN, access = at % kN;
    const T* source = from + (i64)row * kStride + access * per;
    T* to = tile + tile_line<kN>(row, access) * per;
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((ui32)__cvta_generic_to_shared(to)), "l"(source) : "memory");
#else
    *(uint4*)to = __ldg((const uint4*)source);
#endif
  }
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  __syncthreads();
}
)cuda";

// What threads of a warp, or of a block, have accumulated. All of them call it.
constexpr std::string_view kTogether = R"cuda(
template <class T> __device__ T from_lane(T x, int mask) {
  if constexpr (sizeof(T) == 8) {
    i64 bits;
    memcpy(&bits, &x, 8);
    bits = __shfl_xor_sync(0xffffffffu, bits, mask);
    memcpy(&x, &bits, 8);
  } else {
    ui32 bits = 0;
    memcpy(&bits, &x, sizeof(T));
    bits = __shfl_xor_sync(0xffffffffu, bits, mask);
    memcpy(&x, &bits, sizeof(T));
  }
  return x;
}
// From the thread of the warp so many before; from the last one.
template <class T> __device__ T from_below(T x, int distance) {
  if constexpr (sizeof(T) == 8) {
    i64 bits;
    memcpy(&bits, &x, 8);
    bits = __shfl_up_sync(0xffffffffu, bits, distance);
    memcpy(&x, &bits, 8);
  } else {
    ui32 bits = 0;
    memcpy(&bits, &x, sizeof(T));
    bits = __shfl_up_sync(0xffffffffu, bits, distance);
    memcpy(&x, &bits, sizeof(T));
  }
  return x;
}
template <class T> __device__ T from_last(T x) {
  ui64 bits = 0;
  memcpy(&bits, &x, sizeof(T));
  if constexpr (sizeof(T) == 8) bits = __shfl_sync(0xffffffffu, bits, 31);
  else bits = __shfl_sync(0xffffffffu, (ui32)bits, 31);
  memcpy(&x, &bits, sizeof(T));
  return x;
}
// Of W neighbouring threads, all of which get the result.
#define WARP_ALL(T, W, op, sum) \
  for (int mask = (W) / 2; mask > 0; mask /= 2) sum = op(sum, from_lane<T>(sum, mask));
// Of threads that lie P apart, G of them, of which the first gets the result.
#define ACROSS(T, P, G, op, sum, room)                                             \
  __syncthreads();                                                                 \
  ((T*)room)[threadIdx.x] = sum;                                                   \
  __syncthreads();                                                                 \
  if (threadIdx.x < P)                                                             \
    for (int part = 1; part < G; ++part) sum = op(sum, ((T*)room)[threadIdx.x + part * P]);
// Where P is less than a warp has: of a warp's threads, then of all warps.
#define ACROSS_WARP(T, P, op, sum) \
  for (int mask = P; mask < 32; mask *= 2) sum = op(sum, from_lane<T>(sum, mask));
#define PUT_WARP(T, P, sum, room) \
  if (threadIdx.x % 32 < P) ((T*)(room))[threadIdx.x / 32 * P + threadIdx.x % 32] = sum;
#define GET_WARPS(T, P, op, sum, room) \
  if (threadIdx.x < P)                 \
    for (int warp = 1; warp < (int)blockDim.x / 32; ++warp) sum = op(sum, ((T*)(room))[threadIdx.x + warp * P]);
// Of groups of G neighbouring threads, of which the first gets the result.
#define TOGETHER(T, G, op, sum, room)                                              \
  for (int mask = (G < 32 ? G : 32) / 2; mask > 0; mask /= 2)                      \
    sum = op(sum, from_lane<T>(sum, mask));                                        \
  if (G > 32) {                                                                    \
    __syncthreads();                                                               \
    if (threadIdx.x % 32 == 0) ((T*)room)[threadIdx.x / 32] = sum;                 \
    __syncthreads();                                                               \
    if (threadIdx.x % G == 0)                                                      \
      for (int warp = 1; warp < G / 32; ++warp)                                    \
        sum = op(sum, ((T*)room)[threadIdx.x / 32 + warp]);                        \
  }
)cuda";

// Blocks that have one row together.
constexpr std::string_view kClusters = R"cuda(
#if __CUDA_ARCH__ >= 900
__device__ ui32 cluster_rank() {
  ui32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
template <class T> __device__ T get_far(ui64* place, ui32 block) {
  ui64 bits;
  ui32 there;
  const ui32 here = (ui32)__cvta_generic_to_shared(place);
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(block));
  asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(bits) : "r"(there) : "memory");
  T value;
  memcpy(&value, &bits, sizeof(T));
  return value;
}
#endif
)cuda";

// Copies to shared memory that no thread waits for: a gate counts the bytes that have come.
constexpr std::string_view kFlights = R"cuda(
#if __CUDA_ARCH__ >= 900
__device__ ui32 place_of(const void* shared) { return (ui32)__cvta_generic_to_shared(shared); }
__device__ void open_gate(ui64* gate) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place_of(gate)) : "memory");
}
// Gates are seen by copies.
__device__ void gates_are_open() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ void expect(ui64* gate, ui32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place_of(gate)), "r"(bytes) : "memory");
}
__device__ void fly(void* to, const void* from, ui32 bytes, ui64* gate) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(place_of(to)), "l"(from), "r"(bytes), "r"(place_of(gate)) : "memory");
}
// To the same place of another block, whose gate counts it. (A barrier of the cluster would wait for
// all that was written to memory before.)
template <class T> __device__ void put_far(ui64* place, ui64* gate, ui32 block, T value) {
  ui64 bits = 0;
  memcpy(&bits, &value, sizeof(T));
  ui32 there, its_gate;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(place_of(place)), "r"(block));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(its_gate) : "r"(place_of(gate)), "r"(block));
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
               ::"r"(there), "l"(bits), "r"(its_gate) : "memory");
}
__device__ void arrive(ui64* gate, ui32 turn) {
  ui32 there;
  do {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(there) : "r"(place_of(gate)), "r"(turn) : "memory");
  } while (there == 0);
}
#endif
)cuda";

}  // namespace

std::string_view cuda_prelude() {
  static const std::string text =
      std::string(kTypes) + std::string(kConversions) + std::string(kArithmetic) +
      std::string(kBitsAndOrder) + std::string(kFunctions) + std::string(kVectors) +
      std::string(kTiles) + std::string(kTogether) + std::string(kClusters) + std::string(kFlights);
  return text;
}

std::string_view cuda_memory_type(DType type) {
  return type == DType::i1 ? "ui8" : cuda_type(type);
}

std::string_view cuda_type(DType type) { return type == DType::i1 ? "bool" : name(type); }

}  // namespace heddle
