// Elementwise functions of the core dialect: exponential, tanh, rsqrt, …
#include "ir/eval/elementwise.h"
#include "ir/eval/elementwise_complex.h"

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

// Calls visit(Tag<F>{}) with the function object of an op; null where there is none.
template <typename Visit>
auto with_math(std::string_view op, Visit visit) -> decltype(visit(Tag<RoundedOnce<Cbrt>>{})) {
  if (op == "cbrt") return visit(Tag<RoundedOnce<Cbrt>>{});
  if (op == "cosine") return visit(Tag<RoundedOnce<Cosine>>{});
  if (op == "exponential") return visit(Tag<RoundedOnce<Exponential>>{});
  if (op == "exponential_minus_one") return visit(Tag<RoundedOnce<ExponentialMinusOne>>{});
  if (op == "log") return visit(Tag<RoundedOnce<Log>>{});
  if (op == "log_plus_one") return visit(Tag<RoundedOnce<LogPlusOne>>{});
  if (op == "logistic") return visit(Tag<RoundedOnce<Logistic>>{});
  if (op == "rsqrt") return visit(Tag<RoundedOnce<Rsqrt>>{});
  if (op == "sine") return visit(Tag<RoundedOnce<Sine>>{});
  if (op == "sqrt") return visit(Tag<Sqrt>{});
  if (op == "tan") return visit(Tag<RoundedOnce<Tan>>{});
  if (op == "tanh") return visit(Tag<RoundedOnce<Tanh>>{});
  return nullptr;
}

}  // namespace

Evaluate math_evaluation(std::string_view op) {
  return with_math(op, [](auto tag) -> Evaluate { return unary<typename decltype(tag)::type>; });
}

ScalarFunction math_scalar(std::string_view op, DType dtype) {
  return with_math(op, [&](auto tag) { return unary_scalar<typename decltype(tag)::type>(dtype); });
}

}  // namespace heddle
