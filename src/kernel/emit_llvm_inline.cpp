// exp, and log, tanh and erf of f32, in line, at most 1 ulp off: a call would cost every vector
// register. No step of them meets a subnormal number.
#include "kernel/emit_llvm_inline.h"

#include <cmath>

#include "kernel/emit_llvm_avx512.h"

namespace heddle {

namespace {

constexpr std::string_view kOneBits = "0x3FF0000000000000";

// A whole number n, and the sum that its bits stand at the end of.
struct Whole {
  std::string n, sum;
};

// Adding 1.5 * 2^23 or 2^52 rounds to a whole number.
double rounding_base(const Floats& f) { return 1.5 * f.step_base(); }

// x * 2^n for an x near 1, where that is neither subnormal nor infinite: by an instruction, or by
// adding to the exponent, of which a NaN does not come out as one.
std::string scaled(const Floats& f, const std::string& x, const Whole& by) {
  if (has_avx512(f)) return avx512(f, "scalef", {x, by.n});
  const std::string n = f.bits("shl", f.as_bits(by.sum), f.integer(f.wide ? 52 : 23));
  return f.as_float(f.bits("add", f.as_bits(x), n));
}

struct ExpParts {
  std::string of_rest;  // e^r with |r| <= ln 2 / 2
  Whole power;
};

// e^x = e^r * 2^n.
ExpParts exp_parts(const Floats& f, const std::string& x) {
  const std::string base = f.number(rounding_base(f));
  const std::string sum = f.fma(x, f.number(1.4426950408889634), base);
  const std::string n = f.op("fsub", sum, base);
  const std::string rough =
      f.fma(n, f.constant(f.wide ? "0xBFE62E42FEFA3800" : "0xBFE62E4300000000"), x);
  const std::string r =
      f.fma(n, f.constant(f.wide ? "0xBD2EF35793C76730" : "0x3E205C6100000000"), rough);
  constexpr std::string_view narrow[] = {kOneBits,
                                         kOneBits,
                                         "0x3FDFFFFFC0000000",
                                         "0x3FC5554900000000",
                                         "0x3FA5558A60000000",
                                         "0x3F8123AEA0000000",
                                         "0x3F56A59FA0000000"};
  constexpr std::string_view wide[] = {kOneBits,
                                       kOneBits,
                                       "0x3FE0000000000000",
                                       "0x3FC5555555555555",
                                       "0x3FA5555555555555",
                                       "0x3F81111111111111",
                                       "0x3F56C16C16C16C17",
                                       "0x3F2A01A01A01A01A",
                                       "0x3EFA01A01A01A01A",
                                       "0x3EC71DE3A556C734",
                                       "0x3E927E4FB7789F5C",
                                       "0x3E5AE64567F544E4",
                                       "0x3E21EED8EFF8D898",
                                       "0x3DE6124613A86D09"};
  return {f.wide ? f.polynomial(r, wide) : f.polynomial(r, narrow), {n, sum}};
}

// y, or where the condition holds its nearest whole number as bits: the number of so many smallest
// steps.
std::string whole_bits_where(const Floats& f, const std::string& condition, const std::string& y) {
  if (has_whole_avx512(f)) return avx512_whole_where(f, condition, y);
  return f.as_float(f.pick_bits(condition, f.bits_from_steps(y), f.as_bits(y)));
}

// e^x, where that is neither 0 nor subnormal.
std::string exp_in_range(const Floats& f, const std::string& x) {
  const ExpParts e = exp_parts(f, x);
  return scaled(f, e.of_rest, e.power);
}

// An argument of exp for which no step meets a subnormal number.
struct ExpArgument {
  std::string seen;  // 0 for those next to it
  std::string held;  // the same between the ends of what is not 0 or infinite
};

constexpr std::string_view kMostNarrow = "0x40562E42E0000000", kMostWide = "0x40862E42FEFA39EF";

ExpArgument exp_argument(const Floats& f, const std::string& x, Sign sign) {
  // A subnormal number counts as 0, and so do others next to it: the upper bits of the exponent.
  const std::string upper =
      f.bits("and", f.as_bits(x), f.integer(f.wide ? 0x6000000000000000 : 0x60000000));
  const std::string counts = f.compare("ne", upper, f.integer(0)), zero = f.number(0);
  const std::string least = f.number(f.of_width(-104, -746));
  if (!has_avx512(f)) {
    const std::string most = f.constant(f.wide ? kMostWide : kMostNarrow);
    const std::string seen = f.pick(counts, x, zero);
    const std::string below = sign == Sign::any ? f.where("ogt", seen, most, most, seen) : seen;
    return {seen, f.where("ogt", below, least, below, least)};
  }
  // The first instruction that takes x leaves those out that count as 0. A NaN stays. Above, the
  // scaling gives infinity by itself where the polynomial is positive everywhere, as that of f32.
  const auto not_below = [&](const std::string& a) { return f.where("olt", a, least, least, a); };
  if (sign == Sign::any && f.wide) return {{}, not_below(f.pick(counts, f.at_most(x, 711), zero))};
  return {{}, f.pick(counts, not_below(x), zero)};
}

std::string exp_of(const Floats& f, const std::string& x, Sign sign) {
  const ExpArgument argument = exp_argument(f, x, sign);
  ExpParts e = exp_parts(f, argument.held);
  // What ends as 0 or as a subnormal number is counted in smallest steps.
  const std::string low = f.w.set("fcmp olt {} {}, {}", f.type, argument.held,
                                  f.constant(f.wide ? "0xC086232BDD7ABCD2" : "0xC055D589E0000000"));
  const std::string up = f.number(f.smallest());
  const bool masks = has_avx512(f);
  for (std::string* part : {&e.power.n, &e.power.sum})
    *part = masks ? f.pick(low, f.op("fadd", *part, up), *part)
                  : f.op("fadd", *part, f.pick(low, up, f.number(0)));
  std::string finite = whole_bits_where(f, low, scaled(f, e.of_rest, e.power));
  if (masks) return finite;
  return f.where("ole", argument.seen, f.constant(f.wide ? kMostWide : kMostNarrow), finite,
                 f.op("fadd", argument.seen, f.number(INFINITY)));
}

// Next to 0 it is x, near 0 an odd polynomial, else 1 - 2 / (e^2x + 1).
std::string tanh_of(const Floats& f, const std::string& x) {
  constexpr std::string_view powers[] = {
      "0xBFD55554E0000000", "0x3FC110F380000000", "0xBFAB9CA4E0000000", "0x3F962F1CA0000000",
      "0xBF80ED7AA0000000", "0x3F6529D640000000", "0xBF3DDD8C40000000"};
  const std::string all = f.magnitude(x), next = f.below(all, 0x1p-13), one = f.number(1);
  const std::string size = f.pick(next, f.number(0), f.as_float(all));
  const std::string square = f.op("fmul", size, size);
  const std::string near = f.fma(f.op("fmul", size, square), f.polynomial(square, powers), size);
  const std::string held = f.where("olt", size, f.number(10), size, f.number(10));
  const std::string e = exp_in_range(f, f.op("fadd", held, held));
  const std::string rest = f.op("fdiv", f.number(2), f.op("fadd", e, one));
  const std::string far = f.op("fsub", one, rest);
  const std::string there = f.where("oge", size, f.constant("0x3FECCCCCC0000000"), far, near);
  return f.pick(next, x, f.with_sign(there, x));
}

// Near 0 an odd polynomial, else 1 - e^q(x) with q = log(erfc) as a polynomial; from 3.95 on it is
// 1.
std::string erf_of(const Floats& f, const std::string& x) {
  constexpr std::string_view odd[] = {
      "0x3FC06EBA80000000", "0xBFD8127340000000", "0x3FBCE2AA60000000", "0xBF9B7CDE00000000",
      "0x3F752AC240000000", "0xBF49A3DE00000000", "0x3F12F80B20000000"};
  constexpr std::string_view exponent[] = {
      "0x3F26E6B440000000", "0xBFF2127E80000000", "0xBFE4445F60000000", "0xBFBBB84E40000000",
      "0x3F99B91DC0000000", "0xBF71161620000000", "0x3F3C7ACA80000000", "0xBEF6219F40000000"};
  const std::string all = f.magnitude(x), subnormal = is_subnormal(f, x);
  const std::string base = f.pick(subnormal, f.steps(all), f.as_float(all));
  // Whose square is no subnormal number; and by bits, so that it does not matter what it was.
  const std::string clear = f.larger(all, f.integer(f.bits_of_number(0x1p-60)));
  const std::string size = f.as_float(clear), square = f.op("fmul", size, size);
  const std::string near =
      whole_bits_where(f, subnormal, f.fma(base, f.polynomial(square, odd), base));
  const std::string held =
      f.as_float(f.smaller(clear, f.integer(f.bits_of_number(3.9500000476837158))));
  const std::string rest = exp_in_range(f, f.polynomial(held, exponent));
  const std::string far = f.op("fsub", f.number(1), rest);
  return f.with_sign(f.where("oge", size, f.number(1), far, near), x);
}

// log (1 + r) + e * log 2 for r from -1/4 to 1/2.
std::string log_from(const Floats& f, const std::string& r, const std::string& e) {
  constexpr std::string_view powers[] = {
      "0x3FD5555A40000000", "0xBFD0000440000000", "0x3FC99696C0000000", "0xBFC54EEFE0000000",
      "0x3FC2886C40000000", "0xBFC0D92420000000", "0x3FBAC8CC60000000", "0xBFA7110A40000000"};
  const std::string square = f.op("fmul", r, r);
  std::string small = f.op("fmul", f.op("fmul", square, r), f.polynomial(r, powers));
  small = f.fma(e, f.constant("0xBE205C6100000000"), small);
  small = f.fma(square, f.constant("-0.5"), small);
  // What the large part loses when it is rounded goes to the small one.
  const std::string high = f.constant("0x3FE62E4300000000");
  const std::string large = f.fma(e, high, r);
  const std::string minus = f.w.set("fneg {} {}", f.type, large);
  const std::string lost = f.op("fadd", f.fma(e, high, minus), r);
  return f.op("fadd", large, f.op("fadd", small, lost));
}

// x = m * 2^e with m from 3/4 to 3/2.
std::string log_of(const Floats& f, const std::string& given) {
  const std::string one = f.number(1), zero = f.number(0), infinite = f.number(INFINITY);
  const std::string subnormal = is_subnormal(f, given);
  // Those below 0 stay below it.
  const std::string x = f.pick(subnormal, f.steps(f.as_bits(given)), given);
  if (has_avx512(f)) {
    // The mantissa in that range, NaN below 0; the exponent of it tells what x's own lacks.
    const std::string m = avx512(f, "getmant", {x}, "i32 11, ");
    const std::string part = f.op("fsub", avx512(f, "getexp", {x}), avx512(f, "getexp", {m}));
    const std::string e = f.pick(subnormal, f.op("fadd", part, f.number(-f.smallest())), part);
    const std::string sum = log_from(f, f.op("fsub", m, one), e);
    // Of 0 and infinity the exponent is the result.
    return f.pick(is_infinite_or_nan(f, e), e, sum);
  }
  const std::string bits = f.as_bits(x);
  const std::string whole =
      f.bits("ashr", f.bits("sub", bits, f.integer(0x3f400000)), f.integer(23));
  const std::string m = f.as_float(f.bits("sub", bits, f.bits("shl", whole, f.integer(23))));
  const std::string steps = f.w.set("sitofp {} {} to {}", f.integers, whole, f.type);
  const std::string raised = f.pick(subnormal, f.number(-f.smallest()), zero);
  const std::string sum = log_from(f, f.op("fsub", m, one), f.op("fadd", steps, raised));
  const std::string low = f.where("oeq", x, zero, f.number(-HUGE_VAL), f.number(NAN));
  return f.where("ogt", x, zero, f.where("olt", x, infinite, sum, x), low);
}

}  // namespace

std::string emit_exp(LlvmWriter& writer, const LlvmValue& x, Sign sign) {
  return exp_of(Floats{writer, x.lanes, x.type == DType::f64}, x.text, sign);
}

bool has_inline_form(const LlvmWriter& writer, ScalarOp op, const LlvmValue& x) {
  if (writer.target.family == VectorTarget::Family::generic) return false;
  return op == ScalarOp::exp ||
         (x.type != DType::f64 &&
          (op == ScalarOp::tanh || op == ScalarOp::erf || op == ScalarOp::log));
}

std::string emit_inline(LlvmWriter& writer, ScalarOp op, const LlvmValue& x) {
  const Floats f{writer, x.lanes, x.type == DType::f64};
  if (op == ScalarOp::exp) return exp_of(f, x.text, Sign::any);
  if (op == ScalarOp::log) return log_of(f, x.text);
  return op == ScalarOp::tanh ? tanh_of(f, x.text) : erf_of(f, x.text);
}

}  // namespace heddle
