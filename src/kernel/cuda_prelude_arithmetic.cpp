// Arithmetic, bits and comparisons of the CUDA text. Each means what the reference evaluation
// means.
#include "kernel/cuda_prelude.h"

namespace heddle::cuda_text {

std::string_view arithmetic() {
  return R"cuda(
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
}

std::string_view bits_and_order() {
  return R"cuda(
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
}

}  // namespace heddle::cuda_text
