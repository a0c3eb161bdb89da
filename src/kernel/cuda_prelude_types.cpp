// Element types of the CUDA text, and conversions between them: f16 and bf16 go through f32.
#include "kernel/cuda_prelude.h"

namespace heddle::cuda_text {

std::string_view types() {
  return R"cuda(
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
}

std::string_view conversions() {
  return R"cuda(
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
}

}  // namespace heddle::cuda_text
