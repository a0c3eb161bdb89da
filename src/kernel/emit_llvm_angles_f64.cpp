// sin, cos and tan of f64, at most 1 ulp off: numbers are sums of two where it matters.
#include "kernel/emit_llvm_angles.h"
#include "kernel/emit_llvm_avx512.h"
#include "kernel/emit_llvm_floats.h"

namespace heddle {

namespace {

struct WideAngles {
  const Floats& f;

  std::string minus(const std::string& a) const { return f.w.set("fneg {} {}", f.type, a); }
  std::string difference(const std::string& a, const std::string& b) const {
    return f.op("fsub", a, b);
  }

  // a + b without a loss, where |a| >= |b|.
  Sum sorted_sum(const std::string& a, const std::string& b) const {
    const std::string high = f.op("fadd", a, b);
    return {high, difference(b, difference(high, a))};
  }

  // x - turns * pi / 2; pi / 2 in three parts. The first subtraction is exact.
  Sum rest(const std::string& x, const std::string& turns) const {
    const std::string first = f.fma(turns, f.number(-0x1.921fb54442d18p+0), x);
    const std::string second = f.number(0x1.1a62633145c07p-54);
    const std::string product = f.op("fmul", turns, second);
    const std::string lost = f.fma(turns, second, minus(product));
    // Either of the two may be the larger one.
    const std::string high = difference(first, product), taken = difference(high, first);
    const std::string low =
        difference(difference(first, difference(high, taken)), f.op("fadd", product, taken));
    const std::string third = f.fma(turns, f.number(0x1.f1976b7ed8fbcp-110), difference(low, lost));
    return sorted_sum(high, third);
  }

  // Of angles up to 2^30.
  ReducedAngle reduced(const std::string& x) const {
    const std::string base = f.number(0x1.8p52);
    const std::string sum = f.fma(x, f.number(0x1.45f306dc9c883p-1), base);
    return {rest(x, f.op("fsub", sum, base)), f.as_bits(sum)};
  }

  Sum sine(const Sum& r, const std::string& square) const {
    constexpr std::string_view powers[] = {"0xBFC5555555555555", "0x3F81111111110BA5",
                                           "0xBF2A01A019E80693", "0x3EC71DE379252004",
                                           "0xBE5AE60069E53EF1", "0x3DE5E098556D302E"};
    // low * cos(high), of which two terms are enough.
    const std::string half = f.op("fmul", square, f.number(-0.5));
    const std::string by_low = f.fma(half, r.low, r.low);
    const std::string small =
        f.fma(f.op("fmul", square, r.high), f.polynomial(square, powers), by_low);
    return sorted_sum(r.high, small);
  }

  Sum cosine(const Sum& r, const std::string& square) const {
    constexpr std::string_view powers[] = {"0x3FA5555555555555", "0xBF56C16C16C16960",
                                           "0x3EFA01A019F4D0ED", "0xBE927E4FA15BD814",
                                           "0x3E21EEB66B683028", "0xBDA907C0E63ADBB6"};
    const std::string half = f.op("fmul", square, f.number(-0.5));
    const Sum large = sorted_sum(f.number(1), half);
    // What the square itself has lost.
    const std::string lost = f.fma(r.high, r.high, minus(square));
    std::string small = f.fma(r.high, minus(r.low), large.low);
    small = f.fma(lost, f.number(-0.5), small);
    small = f.fma(f.op("fmul", square, square), f.polynomial(square, powers), small);
    return sorted_sum(large.high, small);
  }

  Sum pick(const std::string& condition, const Sum& yes, const Sum& no) const {
    return {f.pick(condition, yes.high, no.high), f.pick(condition, yes.low, no.low)};
  }

  std::string quotient(const Sum& over, const Sum& under) const {
    const std::string inverse = f.op("fdiv", f.number(1), under.high);
    const std::string rough = f.op("fmul", over.high, inverse);
    const std::string back = f.fma(minus(rough), under.high, over.high);
    const std::string rest = f.op("fadd", back, f.fma(minus(rough), under.low, over.low));
    return f.fma(rest, inverse, rough);
  }
};

}  // namespace

std::string of_wide_angle(const Floats& f, ScalarOp op, const std::string& x, bool any_size) {
  const WideAngles angles{f};
  const bool by_words = any_size && has_word_products(f);
  const auto [rest, quarters] = by_words   ? reduce_by_words(f, x)
                                : any_size ? reduce_any_angle(f, x)
                                           : angles.reduced(x);
  // Of |x| so far.
  const auto with_sign = [&](const std::string& value) {
    if (!by_words || op == ScalarOp::cos) return value;
    const std::string sign = f.bits("and", f.as_bits(x), f.integer(INT64_MIN));
    return f.as_float(f.bits("xor", f.as_bits(value), sign));
  };
  const std::string square = f.op("fmul", rest.high, rest.high);
  const Sum sine = angles.sine(rest, square), cosine = angles.cosine(rest, square);
  const std::string odd = f.compare("ne", f.bits("and", quarters, f.integer(1)), f.integer(0));
  if (op == ScalarOp::tan) {
    const std::string there =
        angles.quotient(angles.pick(odd, cosine, sine), angles.pick(odd, sine, cosine));
    return with_sign(f.pick(odd, angles.minus(there), there));
  }
  const bool is_sine = op == ScalarOp::sin;
  const std::string value =
      is_sine ? f.pick(odd, cosine.high, sine.high) : f.pick(odd, sine.high, cosine.high);
  return with_sign(
      negative_in_lower_half(f, value, is_sine ? quarters : f.bits("add", quarters, f.integer(1))));
}

}  // namespace heddle
