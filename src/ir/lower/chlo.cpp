// The pass, and the elementwise client ops that need no mathematics.
#include "ir/lower/chlo.h"

#include <limits>

#include "heddle/lower.h"
#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/lower/float8.h"
#include "ir/lower/narrow_sums.h"
#include "ir/lower/one_update.h"
#include "ir/lower/power.h"
#include "ir/lower/random.h"
#include "ir/lower/window.h"

namespace heddle {

namespace chlo {

namespace {

Expected<bool> done(Rewriter& r, const Op& op, Var result) {
  r.define_results(op, {result});
  return true;
}

Expected<bool> square(Rewriter& r, const Op& op) {
  const Var x = r.operands(op)[0];
  if (!is_complex(x.type().dtype)) return done(r, op, x * x);
  // re^2 - im^2 as a product, so that nothing cancels.
  const Var re = r.to.op("real", {x}), im = r.to.op("imag", {x});
  return done(r, op, r.to.op("complex", {(re - im) * (re + im), (re + re) * im}));
}

Expected<bool> conjugate(Rewriter& r, const Op& op) {
  const Var x = r.operands(op)[0];
  if (!is_complex(x.type().dtype)) return done(r, op, x);
  return done(r, op, r.to.op("complex", {r.to.op("real", {x}), -r.to.op("imag", {x})}));
}

Expected<bool> tangent(Rewriter& r, const Op& op) {
  return done(r, op, r.to.op("tan", r.operands(op)));
}

// In f64, which has infinities whatever the operand has.
template <int kSign>
Expected<bool> is_infinite(Rewriter& r, const Op& op) {
  Var x = r.to.convert(r.operands(op)[0], DType::f64);
  if (kSign == 0) x = r.to.op("abs", {x});
  const double infinity = std::numeric_limits<double>::infinity();
  return done(r, op, r.to.compare("EQ", x, r.to.full_like(x, kSign < 0 ? -infinity : infinity)));
}

bool is_signed(DType dtype) { return dtype < DType::ui2; }

// The high half of a product of 64-bit numbers, by halves of 32 bits.
Var high_half(Builder& b, Var x, Var y) {
  const Var half = b.full_like(x, 32), mask = b.full_like(x, 4294967295.0);
  auto low = [&](Var v) { return b.op("and", {v, mask}); };
  auto high = [&](Var v) { return b.op("shift_right_logical", {v, half}); };
  const Var across = high(x) * low(y);
  const Var middle = high(low(x) * low(y)) + low(across) + low(x) * high(y);
  return high(x) * high(y) + high(across) + high(middle);
}

Expected<bool> multiply_high(Rewriter& r, const Op& op) {
  Builder& b = r.to;
  const Var x = r.operands(op)[0], y = r.operands(op)[1];
  const DType dtype = x.type().dtype;
  if (bits(dtype) < 64) {
    const bool with_sign = is_signed(dtype);
    const DType wide = with_sign ? DType::i64 : DType::ui64;
    const Var product = b.convert(x, wide) * b.convert(y, wide);
    const Var shifted = b.op(with_sign ? "shift_right_arithmetic" : "shift_right_logical",
                             {product, b.full_like(product, bits(dtype))});
    return done(r, op, b.convert(shifted, dtype));
  }
  if (dtype == DType::ui64) return done(r, op, high_half(b, x, y));
  // A negative factor counts as 2^64 too much; take the other factor off for it.
  const Var zero = b.full_like(x, 0);
  const Var high =
      b.bitcast(high_half(b, b.bitcast(x, DType::ui64), b.bitcast(y, DType::ui64)), DType::i64);
  return done(r, op,
              high - b.select(b.compare("LT", x, zero), y, zero) -
                  b.select(b.compare("LT", y, zero), x, zero));
}

std::optional<DType> bits_of(DType dtype) {
  switch (dtype) {
    case DType::f8e3m4:
    case DType::f8e4m3:
    case DType::f8e4m3fn:
    case DType::f8e5m2:
      return DType::ui8;
    case DType::f16:
    case DType::bf16:
      return DType::ui16;
    case DType::f32:
      return DType::ui32;
    case DType::f64:
      return DType::ui64;
    default:
      return {};
  }
}

DType signed_of(DType whole) {
  switch (whole) {
    case DType::ui8:
      return DType::i8;
    case DType::ui16:
      return DType::i16;
    case DType::ui32:
      return DType::i32;
    default:
      return DType::i64;
  }
}

// One step in the bits of the magnitude.
Expected<bool> next_after(Rewriter& r, const Op& op) {
  Builder& b = r.to;
  const Var x = r.operands(op)[0], y = r.operands(op)[1];
  const auto whole = bits_of(x.type().dtype);
  if (!whole) return false;
  const Var from = b.bitcast(x, *whole), one = b.full_like(from, 1), zero = b.full_like(x, 0);
  const Var sign = b.op("shift_left", {one, b.full_like(one, bits(*whole) - 1)});
  const Var grows = b.compare("EQ", b.compare("LT", x, y), b.compare("GT", x, zero));
  const Var stepped = b.select(grows, from + one, from - one);
  // From either zero to the smallest number on the side of y.
  const Var least = b.op("or", {b.op("and", {b.bitcast(y, *whole), sign}), one});
  const Var next = b.bitcast(b.select(b.compare("EQ", x, zero), least, stepped), x.type().dtype);
  const Var there = b.op("or", {b.compare("EQ", x, y), b.compare("NE", y, y)});
  return done(r, op, b.select(b.compare("NE", x, x), x, b.select(there, y, next)));
}

// A float's bits as a signed number of the same order: negative ones have their magnitude turned.
Var total_order_key(Builder& b, Var x, DType whole) {
  const Var bits = b.bitcast(x, whole), ones = b.full_like(bits, -1);
  const Var magnitude = b.op("shift_right_logical", {ones, b.full_like(bits, 1)});
  const Var turned = b.op("xor", {bits, magnitude});
  return b.select(b.compare("LT", bits, b.full_like(bits, 0)), turned, bits);
}

}  // namespace

// Comparisons by total order, which kernels do not have. Those of scalars stay: the order that a
// sort asks for is found by its form.
Expected<bool> total_order(Rewriter& r, const Op& op) {
  const Var x = r.operands(op)[0], y = r.operands(op)[1];
  const auto whole = bits_of(x.type().dtype);
  if (!whole || x.type().rank() == 0 ||
      word_or(r.from.attr(op, "compare_type"), "") != "TOTALORDER")
    return false;
  const DType with_sign = signed_of(*whole);
  return done(
      r, op,
      r.to.compare(word_or(r.from.attr(op, "comparison_direction"), "EQ"),
                   total_order_key(r.to, x, with_sign), total_order_key(r.to, y, with_sign)));
}

Lower lowering(std::string_view op) {
  if (op == "square") return square;
  if (op == "conj") return conjugate;
  if (op == "tan") return tangent;
  if (op == "is_inf") return is_infinite<0>;
  if (op == "is_pos_inf") return is_infinite<1>;
  if (op == "is_neg_inf") return is_infinite<-1>;
  if (op == "mulhi") return multiply_high;
  if (op == "next_after") return next_after;
  if (Lower found = function_lowering(op)) return found;
  return structured_lowering(op);
}

}  // namespace chlo

Expected<Program> lower_chlo(const Program& program, const LowerOptions& options) {
  Rewriter rewriter(program, [&](Rewriter& r, const Op& op) -> Expected<bool> {
    if (op.def->emission == Emission::compare) return chlo::total_order(r, op);
    if (op.def->scalar == ScalarOp::power) return lower_power(r, op);
    if (op.def->slides) return lower_window(r, op);
    if (!op.def->lower) return false;
    if (options.keep && options.keep(*op.def)) return false;
    return op.def->lower(r, op);
  });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.finish();
}

Expected<Program> lower_for_kernels(const Program& program) {
  Rewriter rewriter(program, [&](Rewriter& r, const Op& op) -> Expected<bool> {
    if (op.def->emission == Emission::compare) return chlo::total_order(r, op);
    if (op.def->bits) return lower_random_bits(r, op);
    if (op.def->form == Form::reduce) return lower_narrow_sums(r, op);
    if (op.def->emission == Emission::scatter) return lower_one_update(r, op);
    return lower_float8(r, op);
  });
  for (const Function& f : program.functions) HEDDLE_TRY_VOID(rewriter.copy(f));
  return rewriter.unverified();
}

}  // namespace heddle
