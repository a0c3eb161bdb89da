// Functions of the CUDA text, as accurate as CUDA's.
#include "kernel/cuda_prelude.h"

namespace heddle::cuda_text {

std::string_view functions() {
  return R"cuda(
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
// To five digits, of which one that is added to 1 needs no smaller ones.
__device__ f32 near_exp(f32 x) {
  f32 power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * 1.4426950408889634f));
  return power;
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
}

}  // namespace heddle::cuda_text
