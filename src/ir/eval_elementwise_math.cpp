// Elementwise functions of the core dialect: exponential, tanh, rsqrt, …
#include "ir/eval_elementwise.h"
#include "ir/eval_elementwise_complex.h"

namespace heddle {

namespace {

struct Cbrt {
  static auto real(auto x) { return std::cbrt(x); }
  static auto complex(WideComplex z) { return complex_cbrt(z); }
};
struct Cosine {
  static auto real(auto x) { return std::cos(x); }
  static auto complex(WideComplex z) { return std::cos(z); }
};
struct Exponential {
  static auto real(auto x) { return std::exp(x); }
  static auto complex(WideComplex z) { return std::exp(z); }
};
struct ExponentialMinusOne {
  static auto real(auto x) { return std::expm1(x); }
  static auto complex(WideComplex z) { return complex_expm1(z); }
};
struct Log {
  static auto real(auto x) { return std::log(x); }
  static auto complex(WideComplex z) { return std::log(z); }
};
struct LogPlusOne {
  static auto real(auto x) { return std::log1p(x); }
  static auto complex(WideComplex z) { return complex_log1p(z); }
};
struct Logistic {
  static auto real(auto x) { return 1 / (1 + std::exp(-x)); }
  static auto complex(WideComplex z) { return complex_logistic(z); }
};
struct Rsqrt {
  static auto real(auto x) { return 1 / std::sqrt(x); }
  static auto complex(WideComplex z) { return complex_rsqrt(z); }
};
struct Sine {
  static auto real(auto x) { return std::sin(x); }
  static auto complex(WideComplex z) { return std::sin(z); }
};
struct Tan {
  static auto real(auto x) { return std::tan(x); }
  static auto complex(WideComplex z) { return std::tan(z); }
};
struct Tanh {
  static auto real(auto x) { return std::tanh(x); }
  static auto complex(WideComplex z) { return std::tanh(z); }
};

// Square roots are rounded correctly in every format: straight from double, not by way of a wider
// type, which could round twice.
struct Sqrt {
  template <FloatScalar T>
  T operator()(T x) const {
    return static_cast<T>(std::sqrt(static_cast<double>(x)));
  }
  template <ComplexScalar T>
  T operator()(T x) const {
    return narrow_complex<T>(std::sqrt(widen_complex(x)));
  }
};

}  // namespace

Evaluate math_evaluation(std::string_view op) {
  if (op == "cbrt") return unary<RoundedOnce<Cbrt>>;
  if (op == "cosine") return unary<RoundedOnce<Cosine>>;
  if (op == "exponential") return unary<RoundedOnce<Exponential>>;
  if (op == "exponential_minus_one") return unary<RoundedOnce<ExponentialMinusOne>>;
  if (op == "log") return unary<RoundedOnce<Log>>;
  if (op == "log_plus_one") return unary<RoundedOnce<LogPlusOne>>;
  if (op == "logistic") return unary<RoundedOnce<Logistic>>;
  if (op == "rsqrt") return unary<RoundedOnce<Rsqrt>>;
  if (op == "sine") return unary<RoundedOnce<Sine>>;
  if (op == "sqrt") return unary<Sqrt>;
  if (op == "tan") return unary<RoundedOnce<Tan>>;
  if (op == "tanh") return unary<RoundedOnce<Tanh>>;
  return nullptr;
}

}  // namespace heddle
