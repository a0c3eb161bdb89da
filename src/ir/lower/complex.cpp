// Complex numbers as two real ones: what has complex operands or results is written for the parts.
#include <limits>

#include "heddle/lower.h"
#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/clone.h"
#include "ir/rewrite.h"

namespace heddle {

namespace {

struct Parts {
  Var re, im;
};

class ComplexLowering {
 public:
  explicit ComplexLowering(const Program& program)
      : rewriter_(program, [this](Rewriter&, const Op& op) { return replace(op); }) {}

  Expected<Program> run() {
    for (const Function& f : from().functions) HEDDLE_TRY_VOID(rewriter_.copy(f));
    return rewriter_.unverified();
  }

 private:
  const Program& from() const { return rewriter_.from; }
  Builder& to() { return rewriter_.to; }

  const Type& result_type(const Op& op) const { return from().type_of(from().result(op, 0)); }

  Parts parts(ValueId v) {
    const Var whole = rewriter_.value(v);
    if (!is_complex(whole.type().dtype)) return {whole, to().full_like(whole, 0)};
    return {to().op("real", {whole}), to().op("imag", {whole})};
  }

  Expected<bool> done(const Op& op, Parts parts) {
    return done(op, to().op("complex", {parts.re, parts.im}));
  }
  Expected<bool> done(const Op& op, Var result) {
    rewriter_.define_results(op, {result});
    return true;
  }

  // In regions of scalars, as of a reduction, nothing is gained.
  bool is_for_parts(const Op& op) const {
    if (op.result_count != 1 || op.region_count != 0) return false;
    if (!result_type(op).is_tensor() || result_type(op).rank() == 0) return false;
    bool any = is_complex(result_type(op).dtype);
    for (ValueId v : from().operands(op)) {
      if (!from().type_of(v).is_tensor()) return false;
      any |= is_complex(from().type_of(v).dtype);
    }
    return any;
  }

  Expected<bool> replace(const Op& op) {
    if (!is_for_parts(op)) return false;
    const std::string_view name = op.def->name;
    if (name == "stablehlo.real" || name == "stablehlo.imag" || name == "stablehlo.complex")
      return false;
    const auto operands = from().operands(op);
    if (op.def->emission == Emission::copy || op.def->emission == Emission::join ||
        op.def->emission == Emission::dynamic_slice || op.def->emission == Emission::gather ||
        op.def->emission == Emission::dynamic_update_slice || name == "stablehlo.select")
      return done(op, moved(op));
    if (name == "stablehlo.convert" && is_complex(result_type(op).dtype))
      return done(op, converted(op));
    if (name == "stablehlo.negate") {
      const Parts x = parts(operands[0]);
      return done(op, Parts{-x.re, -x.im});
    }
    if (name == "stablehlo.compare") return done(op, compared(op));
    if (name == "stablehlo.abs") return magnitude(op);
    if (name == "stablehlo.exponential") return exponential(op);
    if (operands.size() != 2) return false;
    const Parts x = parts(operands[0]), y = parts(operands[1]);
    if (name == "stablehlo.add") return done(op, Parts{x.re + y.re, x.im + y.im});
    if (name == "stablehlo.subtract") return done(op, Parts{x.re - y.re, x.im - y.im});
    if (name == "stablehlo.multiply")
      return done(op, Parts{x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re});
    if (name == "stablehlo.divide") return quotient(op, x, y);
    return false;
  }

  // The same move for both parts; operands that are no part of the move, as indices, stay.
  Parts moved(const Op& op) {
    Vars re, im;
    for (ValueId v : from().operands(op)) {
      const bool split = is_complex(from().type_of(v).dtype);
      const Parts x = split ? parts(v) : Parts{rewriter_.value(v), rewriter_.value(v)};
      re.push_back(x.re);
      im.push_back(x.im);
    }
    const Type type = Type::tensor(part_dtype(result_type(op).dtype), result_type(op).shape);
    const auto half = [&](const Vars& operands) {
      return to().op(op.def->name, operands, type, copied_attrs(from(), op));
    };
    return {half(re), half(im)};
  }

  Parts converted(const Op& op) {
    const Parts x = parts(from().operands(op)[0]);
    const DType dtype = part_dtype(result_type(op).dtype);
    return {to().convert(x.re, dtype), to().convert(x.im, dtype)};
  }

  // Only EQ and NE are defined.
  Var compared(const Op& op) {
    const Parts x = parts(from().operands(op)[0]), y = parts(from().operands(op)[1]);
    const std::string direction(word_or(from().attr(op, "comparison_direction"), "EQ"));
    return to().op(direction == "EQ" ? "and" : "or",
                   {to().compare(direction, x.re, y.re), to().compare(direction, x.im, y.im)});
  }

  // f32 in f64, where neither squares nor their sum overflow or lose anything that counts.
  bool is_narrow(ValueId v) const { return from().type_of(v).dtype == DType::c64; }
  Var wide(Var x) { return to().convert(x, DType::f64); }
  Var narrow(Var x) { return to().convert(x, DType::f32); }
  Var is_infinite(Var x) {
    return to().compare("EQ", to().op("abs", {x}),
                        to().full_like(x, std::numeric_limits<double>::infinity()));
  }
  Var is_nan(Var x) { return to().compare("NE", x, x); }

  // Powers of two by which f64 is to be multiplied, so that squares neither overflow nor vanish.
  struct Scale {
    Var by, back;
  };
  Scale scale_of(Var size) {
    Builder& b = to();
    const auto pick = [&](double large, double small) {
      const Var one = b.full_like(size, 1);
      const Var low = b.select(b.compare("LT", size, b.full_like(size, 0x1p-400)),
                               b.full_like(size, small), one);
      return b.select(b.compare("GT", size, b.full_like(size, 0x1p400)), b.full_like(size, large),
                      low);
    };
    return {pick(0x1p-600, 0x1p600), pick(0x1p600, 0x1p-600)};
  }
  // The exponent of an f64 in its own bits, of those that have an inverse; and 2 to the power of
  // such bits.
  static constexpr double kExponent = 0x1p52;
  Var exponent(Var size) {
    Builder& b = to();
    Var bits = b.bitcast(size, DType::i64);
    bits = b.op("and", {bits, b.full_like(bits, 2047 * kExponent)});
    bits = b.op("maximum", {bits, b.full_like(bits, kExponent)});
    return b.op("minimum", {bits, b.full_like(bits, 2045 * kExponent)});
  }
  Var power_of_two(Var bits) { return to().bitcast(bits, DType::f64); }
  Var inverse(Var exponent) {
    return power_of_two(to().full_like(exponent, 2046 * kExponent) - exponent);
  }
  Var larger(Var x, Var y) {
    return to().op("maximum", {to().op("abs", {x}), to().op("abs", {y})});
  }

  Expected<bool> magnitude(const Op& op) {
    const ValueId v = from().operands(op)[0];
    const Parts x = parts(v);
    Var length;
    if (is_narrow(v)) {
      const Var re = wide(x.re), im = wide(x.im);
      length = narrow(to().op("sqrt", {re * re + im * im}));
    } else {
      const Scale scale = scale_of(larger(x.re, x.im));
      const Var re = x.re * scale.by, im = x.im * scale.by;
      length = to().op("sqrt", {re * re + im * im}) * scale.back;
    }
    // An infinite part decides, even beside a NaN.
    const Var infinite = to().op("or", {is_infinite(x.re), is_infinite(x.im)});
    return done(
        op, to().select(infinite, to().full_like(length, std::numeric_limits<double>::infinity()),
                        length));
  }

  // Of what is large in two steps: its cosine or sine may bring it back.
  Expected<bool> exponential(const Op& op) {
    Builder& b = to();
    const bool is_f32 = is_narrow(from().operands(op)[0]);
    Parts x = parts(from().operands(op)[0]);
    if (is_f32) x = {wide(x.re), wide(x.im)};
    constexpr double kMuch = 700, kItsPower = 1.0142320547350045e304;  // e to the 700
    const Var zero = b.full_like(x.re, 0),
              is_much = b.compare("GT", x.re, b.full_like(x.re, kMuch));
    const Var size = b.op("exponential", {b.select(is_much, x.re - kMuch, x.re)});
    const Var rest = b.select(is_much, b.full_like(x.re, kItsPower), b.full_like(x.re, 1));
    Parts result{size * b.op("cosine", {x.im}) * rest, size * b.op("sine", {x.im}) * rest};
    // Beside a part that is no number, or infinite, a zero stays one, and infinity to minus
    // infinity is 0.
    const Var is_real = b.compare("EQ", x.im, zero), odd = b.op("not", {b.op("is_finite", {x.im})});
    const Var infinite = is_infinite(x.re), is_positive = b.compare("GT", x.re, zero);
    const Var end = b.select(is_positive, x.re, zero);  // of an infinite part
    result.re = b.select(b.op("and", {infinite, odd}), end, result.re);
    result.re = b.select(is_real, size * rest, result.re);
    result.im = b.select(b.op("and", {b.op("and", {infinite, odd}), b.op("not", {is_positive})}),
                         zero, result.im);
    result.im = b.select(is_real, x.im, result.im);
    if (is_f32) result = {narrow(result.re), narrow(result.im)};
    return done(op, result);
  }

  struct Scaled {
    Parts parts;
    Var exponent;
  };
  Scaled near_one(Parts x) {
    const Var bits = exponent(larger(x.re, x.im)), by = inverse(bits);
    return {{x.re * by, x.im * by}, bits};
  }
  // In two steps, neither of which goes beyond the type where the result does not.
  Parts times_two_to(Parts x, Var exponent) {
    Builder& b = to();
    const auto mask = b.full_like(exponent, -kExponent);  // all bits from the exponent's lowest on
    const Var one = b.full_like(exponent, 1), zero_bits = b.full_like(exponent, 1023 * kExponent);
    const Var half = b.op("and", {b.op("shift_right_arithmetic", {exponent, one}), mask});
    const Var first = power_of_two(half + zero_bits);
    const Var second = power_of_two(exponent - half + zero_bits);
    return {x.re * first * second, x.im * first * second};
  }

  Expected<bool> quotient(const Op& op, Parts x, Parts y) {
    const bool is_f32 = is_narrow(from().operands(op)[0]);
    if (is_f32) x = {wide(x.re), wide(x.im)};
    if (is_f32) y = {wide(y.re), wide(y.im)};
    const Scaled up = is_f32 ? Scaled{x, {}} : near_one(x),
                 down = is_f32 ? Scaled{y, {}} : near_one(y);
    const auto [a, b] = up.parts;
    const auto [c, d] = down.parts;
    const Var scale = c * c + d * d;
    Parts plain{(a * c + b * d) / scale, (b * c - a * d) / scale};
    if (!is_f32) plain = times_two_to(plain, up.exponent - down.exponent);
    const Parts odd = unusual_quotient(x, y, scale);
    const Var lost = to().op("and", {is_nan(plain.re), is_nan(plain.im)});
    Parts result{to().select(lost, odd.re, plain.re), to().select(lost, odd.im, plain.im)};
    if (is_f32) result = {narrow(result.re), narrow(result.im)};
    return done(op, result);
  }

  // Where the formula gives NaN twice: over zero, of or over infinities, as C's Annex G has it.
  Parts unusual_quotient(Parts x, Parts y, Var scale) {
    Builder& b = to();
    const Var zero = b.full_like(scale, 0), one = b.full_like(scale, 1);
    const Var infinity = b.full_like(scale, std::numeric_limits<double>::infinity());
    const auto either = [&](Var p, Var q) { return b.op("or", {p, q}); };
    const auto both = [&](Var p, Var q) { return b.op("and", {p, q}); };
    // 1 with the sign of an infinity, 0 with that of anything else.
    const auto unit = [&](Var v) {
      const Var size = b.select(is_infinite(v), one, zero);
      return with_sign_of(v, size);
    };
    const auto choose = [&](Var when, Parts yes, Parts no) {
      return Parts{b.select(when, yes.re, no.re), b.select(when, yes.im, no.im)};
    };
    const auto products = [&](Parts p, Parts q, Var factor) {
      return Parts{factor * (p.re * q.re + p.im * q.im), factor * (p.im * q.re - p.re * q.im)};
    };
    const auto finite = [&](Parts p) {
      return both(b.op("is_finite", {p.re}), b.op("is_finite", {p.im}));
    };
    const auto infinite = [&](Parts p) { return either(is_infinite(p.re), is_infinite(p.im)); };
    const Var nan = b.full_like(scale, std::numeric_limits<double>::quiet_NaN());

    Parts result{nan, nan};
    result =
        choose(both(infinite(y), finite(x)), products(x, {unit(y.re), unit(y.im)}, zero), result);
    result = choose(both(infinite(x), finite(y)), products({unit(x.re), unit(x.im)}, y, infinity),
                    result);
    const Var over = with_sign_of(y.re, infinity);
    const Var any = b.op("not", {both(is_nan(x.re), is_nan(x.im))});
    return choose(both(b.compare("EQ", scale, zero), any), {over * x.re, over * x.im}, result);
  }

  Var with_sign_of(Var sign, Var size) {
    Builder& b = to();
    const Var bits = b.bitcast(sign, DType::i64);
    return b.select(b.compare("LT", bits, b.full_like(bits, 0)), -size, size);
  }

  Rewriter rewriter_;
};

bool has_complex(const Program& program) {
  for (ValueId v = 0; v < program.value_count(); ++v)
    if (program.type_of(v).is_tensor() && is_complex(program.type_of(v).dtype)) return true;
  return false;
}

}  // namespace

Expected<Program> lower_complex(const Program& program) {
  if (!has_complex(program)) return program;
  return ComplexLowering(program).run();
}

}  // namespace heddle
