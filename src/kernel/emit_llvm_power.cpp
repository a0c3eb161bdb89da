// x^y = e^(y log |x|). The log is a sum of two numbers, about 2^-68 of itself off, and so is its
// product with y; of f32 both are one f64. x is split by its bits, and results are put together by
// bits where they are subnormal. Zeros, infinities and exponents that are out of all proportion
// become finite ones that lead to the same end, so that no step makes a NaN.
#include "kernel/emit_llvm_power.h"

#include <cmath>

#include "kernel/emit_llvm_avx512.h"
#include "kernel/emit_llvm_tables.h"

namespace heddle {

namespace {

// |x| = m * 2^e, where m is from sqrt(1/2) to sqrt(2) or so.
struct Parted {
  std::string m, e;
};

struct Power {
  const Floats& f;
  const LlvmValue &x, &y;
  const std::string size = f.magnitude(x.text), size_of_y = f.magnitude(y.text);

  std::int64_t infinite() const { return f.bits_of_number(INFINITY); }
  std::string both(std::string_view a, std::string_view b) const {
    return f.w.set("and {} {}, {}", f.truth, a, b);
  }
  std::string either(std::string_view a, std::string_view b) const {
    return f.w.set("or {} {}, {}", f.truth, a, b);
  }
  std::string floats(std::string_view word, std::string_view a, std::string_view b) const {
    return f.w.set("fcmp {} {} {}, {}", word, f.type, a, b);
  }
  std::string floor(std::string_view a) const {
    return f.w.call(f.type, "llvm.floor." + f.suffix, fmt::format("{} {}", f.type, a));
  }

  // The smallest m, as bits: the table of logs begins there.
  std::int64_t least_m() const {
    const std::int64_t one = f.bits_of_number(1);
    return f.wide ? one - (std::int64_t{kLogPiecesBelow} << 44) : f.bits_of_number(std::sqrt(0.5));
  }

  Parted parted() const {
    const int mantissa = f.wide ? 52 : 23;
    const std::string subnormal = is_subnormal(f, x.text);
    const std::string held = f.pick_bits(subnormal, f.as_bits(f.steps(size)), size);
    const std::string whole =
        f.bits("ashr", f.bits("sub", held, f.integer(least_m())), f.integer(mantissa));
    const std::string m = f.bits("sub", held, f.bits("shl", whole, f.integer(mantissa)));
    // As a float: at the end of the bits of one whose last bit is 1.
    const double base = 1.5 * f.step_base();
    const std::string sum = f.as_float(f.bits("add", whole, f.integer(f.bits_of_number(base))));
    const std::string less = f.pick(subnormal, f.number(base + f.smallest()), f.number(base));
    const std::string e = f.op("fsub", sum, less), end = f.number(f.of_width(0x1p100, 0x1p200));
    const std::string from_zero =
        f.pick(f.compare("eq", size, f.integer(0)), f.w.set("fneg {} {}", f.type, end), e);
    return {f.as_float(m), f.pick(f.compare("sge", size, f.integer(infinite())), end, from_zero)};
  }

  // y, of a size that changes 1 next to nothing if it is less, and ends everything else if it is
  // more. 0 stays.
  std::string held_exponent() const {
    const auto bits = [&](double narrow, double wide) {
      return f.integer(f.bits_of_number(f.of_width(narrow, wide)));
    };
    const std::string some =
        f.larger(f.smaller(size_of_y, bits(0x1p40, 0x1p65)), bits(0x1p-40, 0x1p-70));
    const std::string none = f.compare("eq", size_of_y, f.integer(0));
    return f.with_sign(f.as_float(f.pick_bits(none, f.integer(0), some)), y.text);
  }

  // The sign of an odd power of a negative number; NaN for one that is no whole power, and of NaN.
  std::string with_ends(const std::string& value, const std::string& exponent) const {
    const std::string half = f.op("fmul", exponent, f.number(0.5));
    const std::string negative = f.compare("slt", f.as_bits(x.text), f.integer(0));
    const std::string is_whole = floats("oeq", floor(exponent), exponent);
    const std::string odd = both(is_whole, floats("one", floor(half), half));
    const std::string turned =
        f.pick(both(negative, odd), f.w.set("fneg {} {}", f.type, value), value);
    const std::string finite =
        f.compare("ult", f.bits("sub", size, f.integer(1)), f.integer(infinite() - 1));
    const std::string broken =
        both(both(negative, finite), floats("one", floor(exponent), exponent));
    const std::string some = f.compare("ne", size_of_y, f.integer(0));
    const std::string no_base = both(f.compare("sgt", size, f.integer(infinite())), some);
    const std::string other = f.compare("ne", f.as_bits(x.text), f.integer(f.bits_of_number(1)));
    const std::string no_exponent = both(f.compare("sgt", size_of_y, f.integer(infinite())), other);
    return f.pick(either(broken, either(no_base, no_exponent)), f.number(NAN), turned);
  }
};

// a + b without a loss, where |a| >= |b| or a is 0.
struct TwoParts {
  std::string high, low;
};

TwoParts sum_of(const Floats& f, const std::string& a, const std::string& b) {
  const std::string high = f.op("fadd", a, b);
  return {high, f.op("fsub", b, f.op("fsub", high, a))};
}

std::string minus_of(const Floats& f, const std::string& a) {
  return f.w.set("fneg {} {}", f.type, a);
}

// log 2 as a multiple of 2^-42, and what that lacks.
constexpr double kLog2High = 0x1.62e42fefa38p-1, kLog2Low = 0x1.ef35793c7673p-45;

// With c of a table, next to 1 / m: log m = log (1 + r) + log 1/c. Next to 1 c is 1.
TwoParts log_of_parts(const Floats& f, const Parted& x, std::int64_t least_m) {
  constexpr std::string_view powers[] = {"0x3FD5555555555556", "0xBFD0000000000000",
                                         "0x3FC9999999919990", "0xBFC55555554E2219",
                                         "0x3FC24939E7B21CE1", "0xBFC0001333453343"};
  const std::string piece =
      f.bits("lshr", f.bits("sub", f.as_bits(x.m), f.integer(least_m)), f.integer(44));
  const auto row = table_row(f, kLogTable, piece);
  const std::string r = f.fma(x.m, row[0], f.number(-1));             // exact
  const std::string whole = f.fma(x.e, f.number(kLog2High), row[1]);  // exact as well
  std::string small = f.fma(x.e, f.number(kLog2Low), row[2]);
  const std::string half = f.op("fmul", r, f.number(-0.5)), square = f.op("fmul", half, r);
  const TwoParts first = sum_of(f, whole, r), second = sum_of(f, first.high, square);
  small = f.op("fadd", small, f.fma(half, r, minus_of(f, square)));
  small = f.op("fadd", small, f.op("fadd", first.low, second.low));
  const std::string cube = f.op("fmul", f.op("fmul", r, r), r);
  return sum_of(f, second.high, f.fma(cube, f.polynomial(r, powers), small));
}

// x * 2^n for an x near 1: infinite if it is too large, and no less than the smallest normal
// number. The sum has n at the end of its bits.
std::string scaled_by(const Floats& f, const std::string& x, const std::string& n,
                      const std::string& sum) {
  if (has_avx512(f)) return avx512(f, "scalef", {x, n});
  const std::string shifted = f.bits("shl", f.as_bits(sum), f.integer(52));
  const std::string bits = f.bits("add", f.as_bits(x), shifted);
  return f.as_float(f.smaller(bits, f.integer(f.bits_of_number(INFINITY))));
}

std::string exp_of_parts(const Floats& f, const TwoParts& x) {
  constexpr std::string_view powers[] = {
      "0x3FE0000000000001", "0x3FC5555555555556", "0x3FA5555555553D37", "0x3F811111111109A6",
      "0x3F56C16C1789D1D7", "0x3F2A01A01A7CEBCD", "0x3EFA019B8CA26FCF", "0x3EC71DE0D85293B8",
      "0x3E92891D4FFBB0F9", "0x3E5AF390BA7E6F47"};
  // Beyond these it is infinite or 0.
  const std::string held = f.at_least(f.at_most(x.high, 709.79), -746);
  const std::string low = f.where("oeq", held, x.high, x.low, f.number(0));
  const std::string base = f.number(0x1.8p52);
  std::string sum = f.fma(held, f.number(1.4426950408889634), base);
  std::string n = f.op("fsub", sum, base);
  const std::string rough = f.fma(n, f.number(-kLog2High), held);
  const TwoParts r = sum_of(f, rough, f.fma(n, f.number(-kLog2Low), low));
  const std::string square = f.op("fmul", r.high, r.high);
  const std::string rest = f.fma(square, f.polynomial(r.high, powers), f.fma(r.low, r.high, r.low));
  const TwoParts one = sum_of(f, f.number(1), r.high);
  const std::string value = f.op("fadd", one.high, f.op("fadd", one.low, rest));
  // What may end as a subnormal number is counted in smallest steps.
  const std::string small = f.w.set("fcmp olt {} {}, {}", f.type, held, f.number(-708));
  const std::string up = f.pick(small, f.number(f.smallest()), f.number(0));
  sum = f.op("fadd", sum, up);
  n = f.op("fadd", n, up);
  const std::string scaled = scaled_by(f, value, n, sum);
  return f.pick(small, f.from_any_steps(scaled), scaled);
}

std::string wide_power(const Power& p) {
  const Floats& f = p.f;
  const std::string exponent = p.held_exponent();
  const TwoParts log = log_of_parts(f, p.parted(), p.least_m());
  const std::string high = f.op("fmul", exponent, log.high);
  const std::string lost = f.fma(exponent, log.high, minus_of(f, high));
  return p.with_ends(exp_of_parts(f, {high, f.fma(exponent, log.low, lost)}), exponent);
}

// 2^(y log2 |x|) in f64, where neither end is near.
std::string narrow_power(const Power& p) {
  constexpr std::string_view log_powers[] = {
      "0x3FF71547652B526F", "0xBFE71547651D934D", "0x3FDEC709DE7DF8A3", "0xBFD7154784E61E77",
      "0x3FD2776B48F419AF", "0xBFCEC6F47F0E2525", "0x3FCA61C50D0F1C75", "0xBFC7186B15C0C913",
      "0x3FC480DA34575600", "0xBFC23E34C6349E3B", "0x3FC0B872571C04FA", "0xBFC140C75DD3251A",
      "0x3FC0C91EBE0816CE", "0xBFB16C93D9D7AC79"};
  constexpr std::string_view exp_powers[] = {
      "0x3FF0000000000000", "0x3FE62E430D034702", "0x3FCEBFBE045F4D3C", "0x3FAC6AECC669B6DD",
      "0x3F83B2A1B7152BEF", "0x3F55F48C04F62E50", "0x3F2443FFFC90DB59"};
  const Floats& narrow = p.f;
  const Floats f{narrow.w, narrow.lanes, true};
  const auto widened = [&](const std::string& a) {
    return f.w.set("fpext {} {} to {}", narrow.type, a, f.type);
  };
  const Parted x = p.parted();
  const std::string exponent = p.held_exponent();
  const std::string r = widened(narrow.op("fsub", x.m, narrow.number(1)));
  const std::string log = f.fma(r, f.polynomial(r, log_powers), widened(x.e));
  const std::string product = f.op("fmul", log, widened(exponent));
  const std::string held = f.at_least(f.at_most(product, 130), -152);
  const std::string base = f.number(0x1.8p52), sum = f.op("fadd", held, base);
  const std::string n = f.op("fsub", sum, base);
  const std::string value = scaled_by(f, f.polynomial(f.op("fsub", held, n), exp_powers), n, sum);
  // Smallest steps of f32 stand at the end of the bits of such a sum.
  const std::string counted = f.as_bits(f.fma(value, f.number(0x1p149), base));
  const std::string steps =
      narrow.as_float(f.w.set("trunc {} {} to {}", f.integers, counted, narrow.integers));
  const std::string small = f.w.set("fcmp olt {} {}, {}", f.type, value, f.number(0x1p-126));
  const std::string safe = f.pick(small, f.number(1), value);
  const std::string rounded = f.w.set("fptrunc {} {} to {}", f.type, safe, narrow.type);
  return p.with_ends(narrow.pick(small, steps, rounded), exponent);
}

}  // namespace

std::string emit_power(LlvmWriter& w, const LlvmValue& x, const LlvmValue& y) {
  const Floats f{w, x.lanes, x.type == DType::f64};
  const Power power{f, x, y};
  return f.wide ? wide_power(power) : narrow_power(power);
}

}  // namespace heddle
