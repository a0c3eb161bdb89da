// Functions of complex numbers, computed in long double so that each part is right to a few units
// in the last place after rounding.
#pragma once

#include "ir/eval/elementwise.h"

namespace heddle {

using WideComplex = std::complex<long double>;

template <ComplexScalar T>
WideComplex widen_complex(T x) {
  return {static_cast<long double>(x.real()), static_cast<long double>(x.imag())};
}
template <ComplexScalar T>
T narrow_complex(WideComplex x) {
  using R = typename T::value_type;
  return {static_cast<R>(x.real()), static_cast<R>(x.imag())};
}

// a*b + c*d without losing what cancels.
long double sum_of_products(long double a, long double b, long double c, long double d);

WideComplex complex_divide(WideComplex x, WideComplex y);
WideComplex complex_expm1(WideComplex z);
WideComplex complex_log1p(WideComplex z);
WideComplex complex_logistic(WideComplex z);
WideComplex complex_rsqrt(WideComplex z);
WideComplex complex_cbrt(WideComplex z);
WideComplex complex_power(WideComplex x, WideComplex y);
WideComplex complex_atan2(WideComplex y, WideComplex x);

struct Tan {
  static auto real(auto x) { return std::tan(x); }
  static auto complex(WideComplex z) { return std::tan(z); }
};

// Takes F::real on the wide type and F::complex on long double, and rounds once.
template <typename F>
struct RoundedOnce {
  template <FloatScalar T>
  T operator()(T x) const {
    return narrow<T>(F::real(widen(x)));
  }
  template <ComplexScalar T>
  T operator()(T x) const {
    return narrow_complex<T>(F::complex(widen_complex(x)));
  }
};

}  // namespace heddle
