// The elementwise calls, one row each.
#include <algorithm>
#include <cmath>
#include <limits>

#include "heddle/array_ops.h"

namespace heddle {

namespace {

using In = std::span<const Var>;

DType type_of(Var x) { return x.type().dtype; }
bool is_unsigned(DType t) { return t >= DType::ui2 && t <= DType::ui64; }
bool is_bool(DType t) { return t == DType::i1; }

bool any_type(DType) { return true; }
bool no_bool(DType t) { return !is_bool(t); }
bool floats(DType t) { return is_float(t); }
bool floats_and_complex(DType t) { return is_float(t) || is_complex(t); }
bool real(DType t) { return !is_complex(t); }
bool real_numbers(DType t) { return is_integer(t) || is_float(t); }
bool whole(DType t) { return is_integer(t); }
bool whole_and_bool(DType t) { return is_integer(t) || is_bool(t); }

Var zero(Builder& b, Var like) { return b.full_like(like, 0); }
Var equal(Builder& b, Var x, double value) { return b.compare("EQ", x, b.full_like(x, value)); }
Var is_nan(Builder& b, Var x) { return b.compare("NE", x, x); }
Var is_below_0(Builder& b, Var x) { return b.compare("LT", x, zero(b, x)); }
Var truth(Builder& b, Var x) { return is_bool(type_of(x)) ? x : b.compare("NE", x, zero(b, x)); }

// An op that does it for all types; for truth values another one.
template <const char* name, const char* of_bool = name>
Var plain(Builder& b, In in) {
  return b.op(is_bool(type_of(in[0])) ? of_bool : name, Vars(in.begin(), in.end()));
}

// ---- division of whole numbers: by 0 gives 0, and nothing overflows

// What to divide by instead, and where the answer is not the quotient.
struct Divisor {
  Var by, is_zero, is_minus_one;
};
Divisor safe(Builder& b, Var y) {
  Divisor d;
  d.is_zero = equal(b, y, 0);
  Var odd = d.is_zero;
  if (!is_unsigned(type_of(y))) {
    d.is_minus_one = equal(b, y, -1);
    odd = b.op("or", {odd, d.is_minus_one});
  }
  d.by = b.select(odd, b.full_like(y, 1), y);
  return d;
}

// Whether the remainder of a division towards 0 has another sign than the divisor.
Var crosses(Builder& b, Var rest, Var by) {
  const Var left = b.compare("NE", rest, zero(b, rest));
  return b.op("and", {left, b.op("xor", {is_below_0(b, rest), is_below_0(b, by)})});
}

Var whole_quotient(Builder& b, Var x, Var y) {
  const Divisor d = safe(b, y);
  Var q = b.op("divide", {x, d.by});
  if (!is_unsigned(type_of(x))) {
    const Var rest = b.op("remainder", {x, d.by});
    q = b.select(crosses(b, rest, d.by), b.op("subtract", {q, b.full_like(q, 1)}), q);
    q = b.select(d.is_minus_one, b.op("negate", {x}), q);
  }
  return b.select(d.is_zero, zero(b, q), q);
}

Var whole_rest(Builder& b, Var x, Var y, bool floored) {
  const Divisor d = safe(b, y);
  Var rest = b.op("remainder", {x, d.by});
  if (floored && !is_unsigned(type_of(x)))
    rest = b.select(crosses(b, rest, d.by), b.op("add", {rest, d.by}), rest);
  return b.select(d.is_zero, zero(b, rest), rest);
}

// ---- the same of floats, as NumPy's divmod has it

Var with_sign(Builder& b, Var size, Var sign) {
  return b.select(is_below_0(b, sign), b.op("negate", {size}), size);
}

Var float_rest(Builder& b, Var x, Var y) {
  const Var rest = b.op("remainder", {x, y});
  const Var turned = b.select(crosses(b, rest, y), b.op("add", {rest, y}), rest);
  return b.select(equal(b, rest, 0), with_sign(b, zero(b, y), y), turned);
}

Var float_quotient(Builder& b, Var x, Var y) {
  const Var plain = b.op("divide", {x, y});
  const Var rest = b.op("remainder", {x, y});
  const Var one = b.full_like(x, 1);
  Var q = b.op("divide", {b.op("subtract", {x, rest}), y});
  q = b.select(crosses(b, rest, y), b.op("subtract", {q, one}), q);
  const Var down = b.op("floor", {q});
  const Var too_far = b.compare("GT", b.op("subtract", {q, down}), b.full_like(q, 0.5));
  const Var near = b.select(too_far, b.op("add", {down, one}), down);
  // A zero of the sign that the quotient has, which may be -0 itself.
  const Var nothing = b.select(equal(b, plain, 0), plain, with_sign(b, zero(b, q), plain));
  const Var result = b.select(equal(b, q, 0), nothing, near);
  // An infinite quotient has no remainder to go by, unless both are infinite.
  const Var infinite = b.full_like(x, std::numeric_limits<double>::infinity());
  const Var size = b.op("abs", {x});
  const Var as_it_is = b.op("or", {equal(b, y, 0), b.compare("EQ", size, infinite)});
  return b.select(as_it_is, plain, result);
}

Var floor_divide(Builder& b, In in) {
  return is_float(type_of(in[0])) ? float_quotient(b, in[0], in[1])
                                  : whole_quotient(b, in[0], in[1]);
}
Var remainder(Builder& b, In in) {
  return is_float(type_of(in[0])) ? float_rest(b, in[0], in[1]) : whole_rest(b, in[0], in[1], true);
}
Var fmod(Builder& b, In in) {
  return is_float(type_of(in[0])) ? b.op("remainder", {in[0], in[1]})
                                  : whole_rest(b, in[0], in[1], false);
}

// ---- signs and roundings

Var absolute(Builder& b, In in) {
  const DType t = type_of(in[0]);
  return is_bool(t) || is_unsigned(t) ? in[0] : b.op("abs", {in[0]});
}
Var sign(Builder& b, In in) {
  const Var x = in[0];
  const Var other = is_unsigned(type_of(x)) ? b.full_like(x, 1) : b.op("sign", {x});
  return b.select(equal(b, x, 0), zero(b, x), other);  // also of -0
}
Var same(Builder&, In in) { return in[0]; }
Var square(Builder& b, In in) {
  return b.op(is_bool(type_of(in[0])) ? "and" : "multiply", {in[0], in[0]});
}
Var reciprocal(Builder& b, In in) { return b.op("divide", {b.full_like(in[0], 1), in[0]}); }
Var conjugate(Builder& b, In in) {
  return is_complex(type_of(in[0])) ? b.op("chlo.conj", {in[0]}) : in[0];
}
template <const char* name>
Var rounding(Builder& b, In in) {
  return is_float(type_of(in[0])) ? b.op(name, {in[0]}) : in[0];
}
Var trunc(Builder& b, In in) {
  const Var x = in[0];
  if (!is_float(type_of(x))) return x;
  return b.select(is_below_0(b, x), b.op("ceil", {x}), b.op("floor", {x}));
}

// ---- comparisons and truth

template <const char* direction>
Var compared(Builder& b, In in) {
  return b.compare(direction, in[0], in[1]);
}
bool ordered(DType t) { return !is_complex(t); }

template <const char* name>
Var logical(Builder& b, In in) {
  return b.op(name, {truth(b, in[0]), truth(b, in[1])});
}
Var logical_not(Builder& b, In in) { return b.op("not", {truth(b, in[0])}); }

Var isnan_call(Builder& b, In in) { return is_nan(b, in[0]); }
Var isinf_call(Builder& b, In in) {
  return equal(b, b.op("abs", {in[0]}), std::numeric_limits<double>::infinity());
}
Var isfinite_call(Builder& b, In in) { return b.op("is_finite", {in[0]}); }

// The other one where one is NaN.
template <const char* name>
Var passing_nan(Builder& b, In in) {
  const Var x = in[0], y = in[1];
  if (!is_float(type_of(x))) return b.op(name, {x, y});
  const Var either = b.select(is_nan(b, y), x, b.op(name, {x, y}));
  return b.select(is_nan(b, x), y, either);
}

// ---- shifts: by as many bits as there are, or more, nothing is left

Var fits(Builder& b, Var by) {
  const Var below = b.compare("LT", by, b.full_like(by, bits(type_of(by))));
  if (is_unsigned(type_of(by))) return below;
  return b.op("and", {below, b.compare("GE", by, zero(b, by))});
}
Var left_shift(Builder& b, In in) {
  return b.select(fits(b, in[1]), b.op("shift_left", {in[0], in[1]}), zero(b, in[0]));
}
Var right_shift(Builder& b, In in) {
  const Var x = in[0];
  const bool logical = is_unsigned(type_of(x));
  const Var moved = b.op(logical ? "shift_right_logical" : "shift_right_arithmetic", {x, in[1]});
  const Var rest =
      logical ? zero(b, x) : b.select(is_below_0(b, x), b.full_like(x, -1), zero(b, x));
  return b.select(fits(b, in[1]), moved, rest);
}

// By the greater of both, so that no square is too great.
Var hypot(Builder& b, In in) {
  const Var x = b.op("abs", {in[0]}), y = b.op("abs", {in[1]});
  const Var most = b.op("maximum", {x, y}), least = b.op("minimum", {x, y});
  const Var infinite = b.full_like(x, std::numeric_limits<double>::infinity());
  const Var share = b.select(equal(b, most, 0), zero(b, most), b.op("divide", {least, most}));
  const Var one = b.full_like(x, 1);
  const Var root = b.op("sqrt", {b.op("add", {one, b.op("multiply", {share, share})})});
  const Var is_infinite = b.op("or", {b.compare("EQ", x, infinite), b.compare("EQ", y, infinite)});
  return b.select(is_infinite, infinite, b.op("multiply", {most, root}));
}
Var logaddexp(Builder& b, In in) {
  const Var apart = b.op("negate", {b.op("abs", {b.op("subtract", {in[0], in[1]})})});
  const Var more = b.op("log_plus_one", {b.op("exponential", {apart})});
  const Var sum = b.op("add", {b.op("maximum", {in[0], in[1]}), more});
  // Equal infinities have no distance.
  const Var two = b.full_like(in[0], std::log(2.0));
  return b.select(b.compare("EQ", in[0], in[1]), b.op("add", {in[0], two}), sum);
}
Var heaviside(Builder& b, In in) {
  const Var x = in[0];
  const Var side = b.select(is_below_0(b, x), zero(b, x), b.full_like(x, 1));
  return b.select(is_nan(b, x), x, b.select(equal(b, x, 0), in[1], side));
}
constexpr double kHalfTurn = 3.14159265358979323846;
Var degrees(Builder& b, In in) {
  return b.op("multiply", {in[0], b.full_like(in[0], 180.0 / kHalfTurn)});
}
Var radians(Builder& b, In in) {
  return b.op("multiply", {in[0], b.full_like(in[0], kHalfTurn / 180.0)});
}

#define HEDDLE_WORD(word) constexpr char k_##word[] = #word
HEDDLE_WORD(add);
HEDDLE_WORD(subtract);
HEDDLE_WORD(multiply);
HEDDLE_WORD(divide);
HEDDLE_WORD(maximum);
HEDDLE_WORD(minimum);
HEDDLE_WORD(negate);
HEDDLE_WORD(power);
HEDDLE_WORD(sqrt);
HEDDLE_WORD(cbrt);
HEDDLE_WORD(exponential);
HEDDLE_WORD(exponential_minus_one);
HEDDLE_WORD(log);
HEDDLE_WORD(log_plus_one);
HEDDLE_WORD(sine);
HEDDLE_WORD(cosine);
HEDDLE_WORD(tan);
HEDDLE_WORD(tanh);
HEDDLE_WORD(atan2);
HEDDLE_WORD(floor);
HEDDLE_WORD(ceil);
HEDDLE_WORD(round_nearest_even);
HEDDLE_WORD(and);
HEDDLE_WORD(or);
HEDDLE_WORD(xor);
HEDDLE_WORD(not);
HEDDLE_WORD(EQ);
HEDDLE_WORD(NE);
HEDDLE_WORD(LT);
HEDDLE_WORD(LE);
HEDDLE_WORD(GT);
HEDDLE_WORD(GE);
#undef HEDDLE_WORD
constexpr char k_asin[] = "chlo.asin", k_acos[] = "chlo.acos", k_atan[] = "chlo.atan",
               k_sinh[] = "chlo.sinh", k_cosh[] = "chlo.cosh", k_asinh[] = "chlo.asinh",
               k_acosh[] = "chlo.acosh", k_atanh[] = "chlo.atanh";

// log2, log10 and exp2 are missing on purpose: by way of log they would miss whole powers.
constexpr ElementwiseCall kCalls[] = {
    {"add", 2, any_type, plain<k_add, k_or>},
    {"subtract", 2, no_bool, plain<k_subtract>},
    {"multiply", 2, any_type, plain<k_multiply, k_and>},
    {"divide", 2, floats_and_complex, plain<k_divide>},
    {"floor_divide", 2, real_numbers, floor_divide},
    {"remainder", 2, real_numbers, remainder},
    {"fmod", 2, real_numbers, fmod},
    {"power", 2, floats, plain<k_power>},
    {"negative", 1, no_bool, plain<k_negate>},
    {"positive", 1, no_bool, same},
    {"absolute", 1, any_type, absolute},
    {"fabs", 1, floats, absolute},
    {"sign", 1, real_numbers, sign},
    {"square", 1, any_type, square},
    {"reciprocal", 1, floats_and_complex, reciprocal},
    {"conjugate", 1, no_bool, conjugate},
    {"sqrt", 1, floats, plain<k_sqrt>},
    {"cbrt", 1, floats, plain<k_cbrt>},
    {"exp", 1, floats_and_complex, plain<k_exponential>},
    {"expm1", 1, floats, plain<k_exponential_minus_one>},
    {"log", 1, floats, plain<k_log>},
    {"log1p", 1, floats, plain<k_log_plus_one>},
    {"sin", 1, floats, plain<k_sine>},
    {"cos", 1, floats, plain<k_cosine>},
    {"tan", 1, floats, plain<k_tan>},
    {"arcsin", 1, floats, plain<k_asin>},
    {"arccos", 1, floats, plain<k_acos>},
    {"arctan", 1, floats, plain<k_atan>},
    {"arctan2", 2, floats, plain<k_atan2>},
    {"sinh", 1, floats, plain<k_sinh>},
    {"cosh", 1, floats, plain<k_cosh>},
    {"tanh", 1, floats, plain<k_tanh>},
    {"arcsinh", 1, floats, plain<k_asinh>},
    {"arccosh", 1, floats, plain<k_acosh>},
    {"arctanh", 1, floats, plain<k_atanh>},
    {"floor", 1, real, rounding<k_floor>},
    {"ceil", 1, real, rounding<k_ceil>},
    {"trunc", 1, real, trunc},
    {"rint", 1, floats, rounding<k_round_nearest_even>},
    {"maximum", 2, real, plain<k_maximum, k_or>},
    {"minimum", 2, real, plain<k_minimum, k_and>},
    {"fmax", 2, real_numbers, passing_nan<k_maximum>},
    {"fmin", 2, real_numbers, passing_nan<k_minimum>},
    {"equal", 2, any_type, compared<k_EQ>},
    {"not_equal", 2, any_type, compared<k_NE>},
    {"less", 2, ordered, compared<k_LT>},
    {"less_equal", 2, ordered, compared<k_LE>},
    {"greater", 2, ordered, compared<k_GT>},
    {"greater_equal", 2, ordered, compared<k_GE>},
    {"logical_and", 2, any_type, logical<k_and>},
    {"logical_or", 2, any_type, logical<k_or>},
    {"logical_xor", 2, any_type, logical<k_xor>},
    {"logical_not", 1, any_type, logical_not},
    {"bitwise_and", 2, whole_and_bool, plain<k_and>},
    {"bitwise_or", 2, whole_and_bool, plain<k_or>},
    {"bitwise_xor", 2, whole_and_bool, plain<k_xor>},
    {"invert", 1, whole_and_bool, plain<k_not>},
    {"left_shift", 2, whole, left_shift},
    {"right_shift", 2, whole, right_shift},
    {"hypot", 2, floats, hypot},
    {"logaddexp", 2, floats, logaddexp},
    {"heaviside", 2, floats, heaviside},
    {"degrees", 1, floats, degrees},
    {"radians", 1, floats, radians},
    {"rad2deg", 1, floats, degrees},
    {"deg2rad", 1, floats, radians},
    {"isnan", 1, floats, isnan_call},
    {"isinf", 1, floats, isinf_call},
    {"isfinite", 1, floats, isfinite_call},
};

}  // namespace

std::span<const ElementwiseCall> elementwise_calls() { return kCalls; }

const ElementwiseCall* find_elementwise(std::string_view name) {
  const auto* found = std::ranges::find(kCalls, name, &ElementwiseCall::name);
  return found == std::end(kCalls) ? nullptr : found;
}

}  // namespace heddle
