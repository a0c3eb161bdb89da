// Elementwise ops of two operands.
#include "ir/eval/elementwise.h"
#include "ir/eval/elementwise_complex.h"

namespace heddle {

namespace {

struct Subtract {
  template <IntScalar T>
  T operator()(T x, T y) const {
    return wrap(x, y, [](auto a, auto b) { return a - b; });
  }
  template <typename T>
    requires FloatScalar<T> || ComplexScalar<T>
  T operator()(T x, T y) const {
    return x - y;
  }
};

// Division by zero gives all ones and its remainder the dividend; the smallest integer over -1
// wraps to itself. The specification leaves these open; this is what XLA does.
template <IntScalar T>
bool quotient_overflows(T x, T y) {
  if constexpr (std::numeric_limits<T>::is_signed)
    return y == -1 && x == std::numeric_limits<T>::min();
  else
    return false;
}

struct Divide {
  template <IntScalar T>
  T operator()(T x, T y) const {
    if (y == 0) return static_cast<T>(-1);
    if (quotient_overflows(x, y)) return x;
    return static_cast<T>(x / y);
  }
  template <FloatScalar T>
  T operator()(T x, T y) const {
    return x / y;
  }
  template <ComplexScalar T>
  T operator()(T x, T y) const {
    return narrow_complex<T>(complex_divide(widen_complex(x), widen_complex(y)));
  }
};

struct Remainder {
  template <IntScalar T>
  T operator()(T x, T y) const {
    if (y == 0) return x;
    if (quotient_overflows(x, y)) return 0;
    return static_cast<T>(x % y);
  }
  template <FloatScalar T>
  T operator()(T x, T y) const {
    return static_cast<T>(std::fmod(static_cast<double>(x), static_cast<double>(y)));
  }
};

struct Xor {
  Bool operator()(Bool x, Bool y) const { return Bool(bool(x) != bool(y)); }
  template <IntScalar T>
  T operator()(T x, T y) const {
    return static_cast<T>(x ^ y);
  }
};

// Shift amounts count as unsigned; from the width on, every bit has been shifted out.
template <IntScalar T>
bool shifts_all_out(T amount) {
  using U = Unsigned<T>;
  return static_cast<U>(amount) >= std::numeric_limits<U>::digits;
}

struct ShiftLeft {
  template <IntScalar T>
  T operator()(T x, T amount) const {
    if (shifts_all_out(amount)) return 0;
    return static_cast<T>(static_cast<std::uint64_t>(x) << amount);
  }
};

struct ShiftRightLogical {
  template <IntScalar T>
  T operator()(T x, T amount) const {
    if (shifts_all_out(amount)) return 0;
    return static_cast<T>(static_cast<Unsigned<T>>(x) >> amount);
  }
};

// The top bit is repeated, for unsigned types too.
struct ShiftRightArithmetic {
  template <IntScalar T>
  T operator()(T x, T amount) const {
    using S = Signed<T>;
    const auto value = static_cast<S>(x);
    if (shifts_all_out(amount)) return static_cast<T>(value < 0 ? -1 : 0);
    return static_cast<T>(value >> amount);
  }
};

struct MakeComplex {
  C64 operator()(float re, float im) const { return {re, im}; }
  C128 operator()(double re, double im) const { return {re, im}; }
};

struct Atan2 {
  template <FloatScalar T>
  T operator()(T y, T x) const {
    return narrow<T>(std::atan2(widen(y), widen(x)));
  }
  template <ComplexScalar T>
  T operator()(T y, T x) const {
    return narrow_complex<T>(complex_atan2(widen_complex(y), widen_complex(x)));
  }
};

struct Power {
  // A negative exponent gives 1 / base^n, which is 0 unless the base is 1 or -1.
  template <IntScalar T>
  T operator()(T base, T exponent) const {
    auto left = static_cast<std::uint64_t>(static_cast<std::int64_t>(exponent));
    if (exponent < 0) {
      if (base != 1 && base != static_cast<T>(-1)) return 0;
      left = 0 - left;
    }
    auto square = static_cast<std::uint64_t>(static_cast<std::int64_t>(base));
    std::uint64_t result = 1;
    for (; left != 0; left >>= 1, square *= square)
      if (left & 1) result *= square;
    return static_cast<T>(result);
  }
  template <FloatScalar T>
  T operator()(T x, T y) const {
    return narrow<T>(std::pow(widen(x), widen(y)));
  }
  template <ComplexScalar T>
  T operator()(T x, T y) const {
    return narrow_complex<T>(complex_power(widen_complex(x), widen_complex(y)));
  }
};

// chlo.broadcast_* first repeats the smaller operand.
template <typename F>
Evaluated broadcast_binary(EvalContext& ctx) {
  HEDDLE_TRY(auto left, broadcast_operand(ctx, 0));
  HEDDLE_TRY(auto right, broadcast_operand(ctx, 1));
  return map_binary(ctx, left[0], right[0], F{});
}

// Calls visit(Tag<F>{}) with the function object of an op; null where there is none.
template <typename Visit>
auto with_binary(std::string_view op, Visit visit) -> decltype(visit(Tag<Add>{})) {
  if (op == "add") return visit(Tag<Add>{});
  if (op == "and") return visit(Tag<And>{});
  if (op == "atan2") return visit(Tag<Atan2>{});
  if (op == "complex") return visit(Tag<MakeComplex>{});
  if (op == "divide") return visit(Tag<Divide>{});
  if (op == "maximum") return visit(Tag<Extremum<true>>{});
  if (op == "minimum") return visit(Tag<Extremum<false>>{});
  if (op == "multiply") return visit(Tag<Multiply>{});
  if (op == "or") return visit(Tag<Or>{});
  if (op == "power") return visit(Tag<Power>{});
  if (op == "remainder") return visit(Tag<Remainder>{});
  if (op == "shift_left") return visit(Tag<ShiftLeft>{});
  if (op == "shift_right_arithmetic") return visit(Tag<ShiftRightArithmetic>{});
  if (op == "shift_right_logical") return visit(Tag<ShiftRightLogical>{});
  if (op == "subtract") return visit(Tag<Subtract>{});
  if (op == "xor") return visit(Tag<Xor>{});
  return nullptr;
}

}  // namespace

Evaluate binary_evaluation(std::string_view op) {
  if (op == "broadcast_add") return broadcast_binary<Add>;
  if (op == "broadcast_divide") return broadcast_binary<Divide>;
  if (op == "broadcast_maximum") return broadcast_binary<Extremum<true>>;
  if (op == "broadcast_minimum") return broadcast_binary<Extremum<false>>;
  if (op == "broadcast_multiply") return broadcast_binary<Multiply>;
  if (op == "broadcast_power") return broadcast_binary<Power>;
  if (op == "broadcast_subtract") return broadcast_binary<Subtract>;
  return with_binary(op, [](auto tag) -> Evaluate { return binary<typename decltype(tag)::type>; });
}

ScalarFunction binary_op_scalar(std::string_view op, DType dtype) {
  return with_binary(op,
                     [&](auto tag) { return binary_scalar<typename decltype(tag)::type>(dtype); });
}

}  // namespace heddle
