// Elementwise evaluation: applies a function object to every element, whatever the element type.
// A function object has one operator() per kind of scalar that its op is defined on.
#pragma once

#include "ir/eval/eval.h"
#include "ir/eval/scalar.h"
#include "ir/eval/scalar_function.h"

namespace heddle {

// What real functions are computed in before they are rounded once to T.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;

// Rounds through double where T is narrow; T(long double) would be ambiguous otherwise.
template <FloatScalar T>
T narrow(Wide<T> x) {
  return static_cast<T>(x);
}
template <FloatScalar T>
Wide<T> widen(T x) {
  return static_cast<Wide<T>>(static_cast<double>(x));
}

using Evaluated = Expected<std::vector<Array>>;

// The reason for an element type that an op has no meaning for.
Evaluated undefined_for(const EvalContext& ctx, DType dtype);

// What is made per function and type is a loop and no more: arrays and errors are handled once.
// Null: the function has no meaning for the type.
using ElementLoop = void (*)(const void* function, const std::byte* x, const std::byte* y,
                             std::byte* to, std::size_t count);
// Both operands have the result's shape and one element type; a function of one gets it twice.
Evaluated run_elements(EvalContext& ctx, const Array& x, const Array& y, ElementLoop loop,
                       const void* function);

template <typename T>
const T* elements_at(const std::byte* bytes) {
  return reinterpret_cast<const T*>(bytes);
}
template <typename T>
T* elements_at(std::byte* bytes) {
  return reinterpret_cast<T*>(bytes);
}

// Floats of 8 bits and less take part as doubles, which hold all their values, and what comes out
// is rounded once: eleven types without loops of their own.
Evaluated run_as_doubles(EvalContext& ctx, const Array& x, const Array& y, ElementLoop loop,
                         const void* function);
bool is_byte_float(DType dtype);
template <typename T>
inline constexpr bool is_byte_float_v = is_small_float_v<T> && sizeof(T) == 1;
// A function that goes by the bits of its type says so.
template <typename F>
concept AsksForFormat = requires { F::asks_for_format; };
template <typename F, typename T>
inline constexpr bool has_loop_v = AsksForFormat<F> || !is_byte_float_v<T>;

template <typename F>
ElementLoop unary_loop(DType dtype) {
  return dispatch(dtype, [](auto tag) -> ElementLoop {
    using T = typename decltype(tag)::type;
    if constexpr (has_loop_v<F, T> && std::invocable<F, T>)
      return [](const void* function, const std::byte* x, const std::byte*, std::byte* to,
                std::size_t count) {
        const F& f = *static_cast<const F*>(function);
        auto* out = elements_at<std::invoke_result_t<F, T>>(to);
        for (std::size_t i = 0; i < count; ++i) out[i] = f(elements_at<T>(x)[i]);
      };
    return nullptr;
  });
}
template <typename F>
ElementLoop binary_loop(DType dtype) {
  return dispatch(dtype, [](auto tag) -> ElementLoop {
    using T = typename decltype(tag)::type;
    if constexpr (has_loop_v<F, T> && std::invocable<F, T, T>)
      return [](const void* function, const std::byte* x, const std::byte* y, std::byte* to,
                std::size_t count) {
        const F& f = *static_cast<const F*>(function);
        auto* out = elements_at<std::invoke_result_t<F, T, T>>(to);
        for (std::size_t i = 0; i < count; ++i)
          out[i] = f(elements_at<T>(x)[i], elements_at<T>(y)[i]);
      };
    return nullptr;
  });
}

template <typename F>
Evaluated map_unary(EvalContext& ctx, const F& f) {
  const Array& x = ctx.operands[0];
  if (!AsksForFormat<F> && is_byte_float(x.dtype()))
    return run_as_doubles(ctx, x, x, unary_loop<F>(DType::f64), &f);
  return run_elements(ctx, x, x, unary_loop<F>(x.dtype()), &f);
}
template <typename F>
Evaluated map_binary(EvalContext& ctx, const Array& x, const Array& y, const F& f) {
  if (!AsksForFormat<F> && is_byte_float(x.dtype()))
    return run_as_doubles(ctx, x, y, binary_loop<F>(DType::f64), &f);
  return run_elements(ctx, x, y, binary_loop<F>(x.dtype()), &f);
}

// Rows of the op table take these.
template <typename F>
Evaluated unary(EvalContext& ctx) {
  return map_unary(ctx, F{});
}
template <typename F>
Evaluated binary(EvalContext& ctx) {
  return map_binary(ctx, ctx.operands[0], ctx.operands[1], F{});
}

// The same function objects, for one element that is passed as its bits: what kernels run.
template <std::size_t kBytes>
using UnsignedOf = std::conditional_t<
    kBytes == 1, std::uint8_t,
    std::conditional_t<kBytes == 2, std::uint16_t,
                       std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;
template <typename T>
T from_bits(std::uint64_t bits) {
  return std::bit_cast<T>(static_cast<UnsignedOf<sizeof(T)>>(bits));
}
template <typename T>
std::uint64_t to_bits(T value) {
  return std::bit_cast<UnsignedOf<sizeof(T)>>(value);
}
template <typename F, typename... T>
constexpr bool for_kernels() {
  if constexpr (std::invocable<F, T...>)
    return (is_kernel_type(dtype_of<T>()) && ...) &&
           is_kernel_type(dtype_of<std::invoke_result_t<F, T...>>());
  return false;
}
template <typename F>
ScalarFunction unary_scalar(DType dtype) {
  return dispatch(dtype, [](auto tag) -> ScalarFunction {
    using T = typename decltype(tag)::type;
    if constexpr (for_kernels<F, T>())
      return [](std::uint64_t x, std::uint64_t, std::uint64_t) {
        return to_bits(F{}(from_bits<T>(x)));
      };
    return nullptr;
  });
}
template <typename F>
ScalarFunction binary_scalar(DType dtype) {
  return dispatch(dtype, [](auto tag) -> ScalarFunction {
    using T = typename decltype(tag)::type;
    if constexpr (for_kernels<F, T, T>())
      return [](std::uint64_t x, std::uint64_t y, std::uint64_t) {
        return to_bits(F{}(from_bits<T>(x), from_bits<T>(y)));
      };
    return nullptr;
  });
}

// A function of real numbers only, computed in long double.
template <long double (*kFunction)(long double)>
struct RealFunction {
  template <FloatScalar T>
  T operator()(T x) const {
    return narrow<T>(static_cast<Wide<T>>(kFunction(static_cast<double>(x))));
  }
};

// The larger (or smaller) of two: NaN wins, and -0 is below +0.
template <bool kMaximum>
struct Extremum {
  Bool operator()(Bool x, Bool y) const {
    return kMaximum ? Bool(bool(x) || bool(y)) : Bool(bool(x) && bool(y));
  }
  template <IntScalar T>
  T operator()(T x, T y) const {
    return (kMaximum ? x > y : x < y) ? x : y;
  }
  template <FloatScalar T>
  T operator()(T x, T y) const {
    const auto a = static_cast<double>(x), b = static_cast<double>(y);
    if (std::isnan(a)) return x;
    if (std::isnan(b)) return y;
    if (a == b) return std::signbit(a) == kMaximum ? y : x;
    return (kMaximum ? a > b : a < b) ? x : y;
  }
  // In the order of (real, imaginary) pairs.
  template <ComplexScalar T>
  T operator()(T x, T y) const {
    const bool tie = x.real() == y.real();
    const auto a = tie ? x.imag() : x.real(), b = tie ? y.imag() : y.real();
    return (kMaximum ? a > b : a < b) ? x : y;
  }
};

// Integer arithmetic wraps: it is done on the unsigned type, widened so that it is not promoted to
// a signed int that could overflow.
template <IntScalar T, typename F>
T wrap(T x, T y, F f) {
  using U = std::uint64_t;
  return static_cast<T>(f(static_cast<U>(x), static_cast<U>(y)));
}

struct Add {
  Bool operator()(Bool x, Bool y) const { return Bool(bool(x) || bool(y)); }
  template <IntScalar T>
  T operator()(T x, T y) const {
    return wrap(x, y, [](auto a, auto b) { return a + b; });
  }
  template <typename T>
    requires FloatScalar<T> || ComplexScalar<T>
  T operator()(T x, T y) const {
    return x + y;
  }
};

struct Multiply {
  Bool operator()(Bool x, Bool y) const { return Bool(bool(x) && bool(y)); }
  template <IntScalar T>
  T operator()(T x, T y) const {
    return wrap(x, y, [](auto a, auto b) { return a * b; });
  }
  template <FloatScalar T>
  T operator()(T x, T y) const {
    return x * y;
  }
  // By the schoolbook formula, each step rounded to the element type.
  template <ComplexScalar T>
  T operator()(T x, T y) const {
    using R = typename T::value_type;
    const R rr = x.real() * y.real(), ii = x.imag() * y.imag();
    const R ri = x.real() * y.imag(), ir = x.imag() * y.real();
    return {rr - ii, ri + ir};
  }
};

struct And {
  Bool operator()(Bool x, Bool y) const { return Bool(bool(x) && bool(y)); }
  template <IntScalar T>
  T operator()(T x, T y) const {
    return static_cast<T>(x & y);
  }
};

struct Or {
  Bool operator()(Bool x, Bool y) const { return Bool(bool(x) || bool(y)); }
  template <IntScalar T>
  T operator()(T x, T y) const {
    return static_cast<T>(x | y);
  }
};

// The evaluations by op name without dialect; null where there is none. chlo has some names of its
// own (sinh, lgamma, …) and broadcast_* variants of the binary ones.
Evaluate light_unary_evaluation(std::string_view short_name);    // abs, ceil, not, …
Evaluate math_evaluation(std::string_view short_name);           // cosine, exponential, …
Evaluate binary_evaluation(std::string_view short_name);         // add, and, power, …
Evaluate conversion_evaluation(std::string_view short_name);     // convert, bitcast_convert, …
Evaluate choice_evaluation(std::string_view short_name);         // compare, select, clamp
Evaluate chlo_function_evaluation(std::string_view short_name);  // acos, erf, zeta, …

// The same for one element, null where the op has no meaning for the type.
ScalarFunction light_unary_scalar(std::string_view short_name, DType dtype);
ScalarFunction math_scalar(std::string_view short_name, DType dtype);
ScalarFunction binary_op_scalar(std::string_view short_name, DType dtype);
ScalarFunction comparison_scalar(ScalarOp op, DType dtype);
ScalarFunction clamp_scalar(DType dtype);
ScalarFunction conversion_scalar(DType from, DType to);

Evaluated evaluate_top_k(EvalContext& ctx);
Evaluated evaluate_ragged_dot(EvalContext& ctx);
Evaluated evaluate_scan(EvalContext& ctx);
// chlo.broadcast_*: both operands are broadcast to the result's shape first.
Evaluated broadcast_operand(EvalContext& ctx, std::size_t operand);

}  // namespace heddle
