// Elementwise ops of one operand that need no mathematics: abs, sign, rounding, bits, parts.
#include "ir/eval/elementwise.h"

#include "ir/eval/elementwise_complex.h"

namespace heddle {

Evaluated undefined_for(const EvalContext& ctx, DType dtype) {
  return reason("[{}] is not defined for {}", ctx.op.def->short_name(), name(dtype));
}

namespace {

struct OneElement {
  alignas(C128) std::array<std::byte, sizeof(C128)> bytes{};

  OneElement() = default;
  explicit OneElement(const Array& array) {
    const auto from = array.element(0);
    std::memcpy(bytes.data(), from.data(), from.size());
  }
};

Array splat_of(const Type& type, const OneElement& value) {
  return Array::splat(type, std::span(value.bytes).first(byte_size(type.dtype)));
}

Array run_loop(const Type& type, const Array& x, const Array& y, ElementLoop loop,
               const void* function) {
  if (x.is_splat() && y.is_splat()) {
    OneElement value;
    loop(function, OneElement(x).bytes.data(), OneElement(y).bytes.data(), value.bytes.data(), 1);
    return splat_of(type, value);
  }
  Array out(type);
  loop(function, x.bytes().data(), y.bytes().data(), out.mutable_bytes().data(),
       static_cast<std::size_t>(x.elements()));
  return out;
}

}  // namespace

Evaluated run_elements(EvalContext& ctx, const Array& x, const Array& y, ElementLoop loop,
                       const void* function) {
  if (loop == nullptr) return undefined_for(ctx, x.dtype());
  return std::vector{run_loop(ctx.result_type(), x, y, loop, function)};
}

bool is_byte_float(DType dtype) {
  return dispatch(dtype, [](auto tag) { return is_byte_float_v<typename decltype(tag)::type>; });
}

Evaluated run_as_doubles(EvalContext& ctx, const Array& x, const Array& y, ElementLoop loop,
                         const void* function) {
  if (loop == nullptr) return undefined_for(ctx, x.dtype());
  const Type& type = ctx.result_type();
  const bool gives_float = is_byte_float(type.dtype);  // a comparison gives truth values
  const Type wide = gives_float ? Type::tensor(DType::f64, type.shape) : type;
  const Array left = converted(x, DType::f64), right = converted(y, DType::f64);
  return std::vector{converted(run_loop(wide, left, right, loop, function), type.dtype)};
}

namespace {

struct Abs {
  template <IntScalar T>
  T operator()(T x) const {
    // Through unsigned, so that the smallest integer stays itself.
    using U = Unsigned<T>;
    return x < 0 ? static_cast<T>(U{0} - static_cast<U>(x)) : x;
  }
  template <FloatScalar T>
  T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else
      return std::signbit(double(x)) ? -x : x;
  }
  template <ComplexScalar T>
  auto operator()(T x) const {
    const auto wide = widen_complex(x);
    return static_cast<typename T::value_type>(std::hypot(wide.real(), wide.imag()));
  }
};

struct Negate {
  template <IntScalar T>
  T operator()(T x) const {
    using U = Unsigned<T>;
    return static_cast<T>(U{0} - static_cast<U>(x));
  }
  template <typename T>
    requires FloatScalar<T> || ComplexScalar<T>
  T operator()(T x) const {
    return -x;
  }
};

struct Not {
  Bool operator()(Bool x) const { return Bool(!bool(x)); }
  template <IntScalar T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};

struct Sign {
  template <IntScalar T>
  T operator()(T x) const {
    return static_cast<T>((x > 0) - (x < 0));
  }
  template <FloatScalar T>
  T operator()(T x) const {
    const auto wide = static_cast<double>(x);
    // NaN and zeros are kept, sign included.
    if (std::isnan(wide) || wide == 0) return x;
    return static_cast<T>(wide < 0 ? -1.0 : 1.0);
  }
  template <ComplexScalar T>
  T operator()(T x) const {
    const auto nan = std::numeric_limits<typename T::value_type>::quiet_NaN();
    if (std::isnan(x.real()) || std::isnan(x.imag())) return {nan, nan};
    if (x.real() == 0 && x.imag() == 0) return {0, 0};
    const auto wide = widen_complex(x);
    return narrow_complex<T>(wide / std::hypot(wide.real(), wide.imag()));
  }
};

// Rounding to whole numbers is exact in double, and what fits T before fits it after.
template <double (*kRound)(double)>
struct Rounding {
  template <FloatScalar T>
  T operator()(T x) const {
    return static_cast<T>(kRound(static_cast<double>(x)));
  }
};
double ceiling(double x) { return std::ceil(x); }
double flooring(double x) { return std::floor(x); }
double away_from_zero(double x) { return std::round(x); }
double ties_to_even(double x) {
  // Without the rounding mode of the machine: ties are where floor and ceil are equally far.
  const double below = std::floor(x);
  const double rest = x - below;
  if (!(std::fabs(x) < 4503599627370496.0)) return x;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2.0) != 0);
  return std::copysign(up ? below + 1 : below, x);
}

struct IsFinite {
  template <FloatScalar T>
  Bool operator()(T x) const {
    return Bool(std::isfinite(static_cast<double>(x)));
  }
};

struct PopulationCount {
  template <IntScalar T>
  T operator()(T x) const {
    return static_cast<T>(std::popcount(static_cast<std::uint64_t>(static_cast<Unsigned<T>>(x))));
  }
};

struct CountLeadingZeros {
  template <IntScalar T>
  T operator()(T x) const {
    // In 64 bits there are more of them.
    const auto wide = static_cast<std::uint64_t>(static_cast<Unsigned<T>>(x));
    const int spare = 64 - std::numeric_limits<Unsigned<T>>::digits;
    const int zeros = std::countl_zero(wide) - spare;
    return static_cast<T>(zeros);
  }
};

struct RealPart {
  template <FloatScalar T>
  T operator()(T x) const {
    return x;
  }
  template <ComplexScalar T>
  auto operator()(T x) const {
    return x.real();
  }
};

struct Imag {
  template <FloatScalar T>
  T operator()(T) const {
    return T(0.0);
  }
  template <ComplexScalar T>
  auto operator()(T x) const {
    return x.imag();
  }
};

// Calls visit(Tag<F>{}) with the function object of an op; null where there is none.
template <typename Visit>
auto with_light_unary(std::string_view op, Visit visit) -> decltype(visit(Tag<Abs>{})) {
  if (op == "abs") return visit(Tag<Abs>{});
  if (op == "ceil") return visit(Tag<Rounding<ceiling>>{});
  if (op == "count_leading_zeros") return visit(Tag<CountLeadingZeros>{});
  if (op == "floor") return visit(Tag<Rounding<flooring>>{});
  if (op == "imag") return visit(Tag<Imag>{});
  if (op == "is_finite") return visit(Tag<IsFinite>{});
  if (op == "negate") return visit(Tag<Negate>{});
  if (op == "not") return visit(Tag<Not>{});
  if (op == "popcnt") return visit(Tag<PopulationCount>{});
  if (op == "real") return visit(Tag<RealPart>{});
  if (op == "round_nearest_afz") return visit(Tag<Rounding<away_from_zero>>{});
  if (op == "round_nearest_even") return visit(Tag<Rounding<ties_to_even>>{});
  if (op == "sign") return visit(Tag<Sign>{});
  return nullptr;
}

}  // namespace

Evaluate light_unary_evaluation(std::string_view op) {
  return with_light_unary(op,
                          [](auto tag) -> Evaluate { return unary<typename decltype(tag)::type>; });
}

ScalarFunction light_unary_scalar(std::string_view op, DType dtype) {
  return with_light_unary(
      op, [&](auto tag) { return unary_scalar<typename decltype(tag)::type>(dtype); });
}

}  // namespace heddle
