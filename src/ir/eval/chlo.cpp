// Elementwise functions of the client dialect.
#include "ir/eval/elementwise.h"
#include "ir/eval/elementwise_complex.h"
#include "ir/eval/special_functions.h"

namespace heddle {

namespace {

struct Acos {
  static auto real(auto x) { return std::acos(x); }
  static auto complex(WideComplex z) { return std::acos(z); }
};
struct Acosh {
  static auto real(auto x) { return std::acosh(x); }
  static auto complex(WideComplex z) { return std::acosh(z); }
};
struct Asin {
  static auto real(auto x) { return std::asin(x); }
  static auto complex(WideComplex z) { return std::asin(z); }
};
struct Asinh {
  static auto real(auto x) { return std::asinh(x); }
  static auto complex(WideComplex z) { return std::asinh(z); }
};
struct Atan {
  static auto real(auto x) { return std::atan(x); }
  static auto complex(WideComplex z) { return std::atan(z); }
};
struct Atanh {
  static auto real(auto x) { return std::atanh(x); }
  static auto complex(WideComplex z) { return std::atanh(z); }
};
struct Cosh {
  static auto real(auto x) { return std::cosh(x); }
  static auto complex(WideComplex z) { return std::cosh(z); }
};
struct Sinh {
  static auto real(auto x) { return std::sinh(x); }
  static auto complex(WideComplex z) { return std::sinh(z); }
};

template <long double (*kFunction)(long double, long double)>
struct RealFunction2 {
  template <FloatScalar T>
  T operator()(T x, T y) const {
    return narrow<T>(
        static_cast<Wide<T>>(kFunction(static_cast<double>(x), static_cast<double>(y))));
  }
};

struct Conjugate {
  template <typename T>
    requires IntScalar<T> || FloatScalar<T>
  T operator()(T x) const {
    return x;
  }
  template <ComplexScalar T>
  T operator()(T x) const {
    return {x.real(), -x.imag()};
  }
};

struct Square {
  template <IntScalar T>
  T operator()(T x) const {
    return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(x));
  }
  template <FloatScalar T>
  T operator()(T x) const {
    return x * x;
  }
  template <ComplexScalar T>
  T operator()(T z) const {
    const WideComplex wide = widen_complex(z);
    const long double x = wide.real(), y = wide.imag();
    return narrow_complex<T>({sum_of_products(x, x, -y, y), 2 * x * y});
  }
};

template <bool kPositive, bool kNegative>
struct IsInfinite {
  template <FloatScalar T>
  Bool operator()(T x) const {
    const auto wide = static_cast<double>(x);
    return Bool(std::isinf(wide) && (wide > 0 ? kPositive : kNegative));
  }
};

// The neighbour of x towards y in the element type itself: one step in the bits of the magnitude.
struct NextAfter {
  static constexpr bool asks_for_format = true;
  template <FloatScalar T>
  T operator()(T x, T y) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::nextafter(x, y);
    } else {
      using Bits = typename T::bits_type;
      const auto from = static_cast<double>(x), to = static_cast<double>(y);
      const auto sign = static_cast<Bits>(T::format.sign());
      if (std::isnan(from)) return x;
      if (std::isnan(to) || from == to) return y;
      if (from == 0) return T::from_bits(static_cast<Bits>(std::signbit(to) ? sign | 1 : 1));
      const bool grows = (from < to) == (from > 0);
      const auto next = static_cast<Bits>(grows ? x.bits + 1 : x.bits - 1);
      // Some formats have no -0.
      return next == sign && T::format.specials == Specials::zero_nan ? T() : T::from_bits(next);
    }
  }
};

// The high half of the product.
struct MultiplyHigh {
  template <IntScalar T>
  T operator()(T x, T y) const {
    if constexpr (sizeof(T) < 8) {
      using W = std::conditional_t<std::numeric_limits<T>::is_signed, std::int64_t, std::uint64_t>;
      constexpr int width = std::numeric_limits<Unsigned<T>>::digits;
      return static_cast<T>((static_cast<W>(x) * static_cast<W>(y)) >> width);
    } else {
      std::uint64_t high = high_half(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y));
      // A negative factor counts as 2^64 too much; take the other factor off for it.
      if (x < 0) high -= static_cast<std::uint64_t>(y);
      if (y < 0) high -= static_cast<std::uint64_t>(x);
      return static_cast<T>(high);
    }
  }

  static std::uint64_t high_half(std::uint64_t x, std::uint64_t y) {
    const std::uint64_t mask = 0xffffffff;
    const std::uint64_t x_low = x & mask, x_high = x >> 32, y_low = y & mask, y_high = y >> 32;
    const std::uint64_t cross = (x_low * y_low >> 32) + (x_high * y_low & mask) + x_low * y_high;
    return x_high * y_high + (x_high * y_low >> 32) + (cross >> 32);
  }
};

}  // namespace

Evaluate chlo_function_evaluation(std::string_view op) {
  if (op == "acos") return unary<RoundedOnce<Acos>>;
  if (op == "acosh") return unary<RoundedOnce<Acosh>>;
  if (op == "asin") return unary<RoundedOnce<Asin>>;
  if (op == "asinh") return unary<RoundedOnce<Asinh>>;
  if (op == "atan") return unary<RoundedOnce<Atan>>;
  if (op == "atanh") return unary<RoundedOnce<Atanh>>;
  if (op == "bessel_i1e") return unary<RealFunction<bessel_i1e>>;
  if (op == "conj") return unary<Conjugate>;
  if (op == "cosh") return unary<RoundedOnce<Cosh>>;
  if (op == "digamma") return unary<RealFunction<digamma>>;
  if (op == "erf") return unary<RealFunction<error_function>>;
  if (op == "erf_inv") return unary<RealFunction<inverse_erf>>;
  if (op == "erfc") return unary<RealFunction<error_function_complement>>;
  if (op == "is_inf") return unary<IsInfinite<true, true>>;
  if (op == "is_neg_inf") return unary<IsInfinite<false, true>>;
  if (op == "is_pos_inf") return unary<IsInfinite<true, false>>;
  if (op == "lgamma") return unary<RealFunction<log_gamma>>;
  if (op == "sinh") return unary<RoundedOnce<Sinh>>;
  if (op == "square") return unary<Square>;
  if (op == "tan") return unary<RoundedOnce<Tan>>;
  if (op == "mulhi") return binary<MultiplyHigh>;
  if (op == "next_after") return binary<NextAfter>;
  if (op == "polygamma") return binary<RealFunction2<polygamma>>;
  if (op == "zeta") return binary<RealFunction2<hurwitz_zeta>>;
  return nullptr;
}

}  // namespace heddle
