// atan2 is the arc tangent of the smaller operand over the larger one, added to a multiple of a
// quarter of a turn or taken from it. Vectors with operands that are small, large or far apart take
// a branch: there the exponents are taken out, and a result that is as small as the quotient gets
// back what the quotient is still to be scaled by.
#include "kernel/emit_llvm_atan2.h"

#include <array>
#include <cmath>

#include "kernel/emit_llvm_avx512.h"

namespace heddle {

namespace {

constexpr std::array<std::string_view, 10> kNarrowArc = {
    "0xBFD5555540000000", "0x3FC9998C20000000", "0xBFC247F0A0000000", "0x3FBC588540000000",
    "0xBFB6B13080000000", "0x3FB19024C0000000", "0xBFA7BA02A0000000", "0x3F987FCAA0000000",
    "0xBF804E3E40000000", "0x3F54556520000000"};
constexpr std::array<std::string_view, 20> kWideArc = {
    "0xBFD5555555555554", "0x3FC99999999991A2", "0xBFC2492492456F34", "0x3FBC71C71B0D5110",
    "0xBFB745D1504A8DD2", "0x3FB3B138CE6F19C9", "0xBFB110F84BF55405", "0x3FAE1C9B6040C0E8",
    "0xBFAAE9C13E79B58C", "0x3FA83A9104BB57DB", "0xBFA5BB94A4E79D04", "0x3FA305F3E9E2704E",
    "0xBF9F71CD2B3D14B4", "0x3F97834CAE539055", "0xBF8E55ADFE55BEF2", "0x3F800C5A36690AAF",
    "0xBF6A4EFB4AA684FC", "0x3F4EFDEA18A2DCDA", "0xBF272BF1DC172BAC", "0x3EF06FD1D46985AF"};

struct Direction {
  const Floats& f;
  const LlvmValue &y, &x;
  const int mantissa = f.wide ? 52 : 23;
  // By bits, which say which is larger.
  const std::string of_y = f.magnitude(y.text), of_x = f.magnitude(x.text);
  const std::string most = f.larger(of_y, of_x), least = f.smaller(of_y, of_x);
  const std::string steep = f.compare("sgt", of_y, of_x);
  const std::string left = f.compare("slt", f.as_bits(x.text), f.integer(0));

  std::string either(const std::string& a, const std::string& b) const {
    return f.w.set("or {} {}, {}", f.truth, a, b);
  }
  std::string whole(double narrow, double wide) const {
    return f.integer(static_cast<std::int64_t>(f.of_width(narrow, wide)));
  }
  std::string moved(const std::string& exponent) const {
    return f.bits("shl", exponent, f.integer(mantissa));
  }
  std::string is_infinite(const std::string& bits) const {
    return f.compare("sge", bits, f.integer(f.bits_of_number(INFINITY)));
  }

  // What is to be added to quarters of a turn, or taken from them.
  std::string turned(const std::string& a) const {
    const std::string back = f.w.set("xor {} {}, {}", f.truth, steep, left);
    return f.pick(back, f.w.set("fneg {} {}", f.type, a), a);
  }
  std::string quarters(double half, double all) const {
    return f.pick(steep, f.number(half), f.pick(left, f.number(all), f.number(0)));
  }

  // The angle where |y| = over and |x| = under or the other way round.
  std::string of(const std::string& over, const std::string& under) const {
    const std::span<const std::string_view> powers =
        f.wide ? std::span<const std::string_view>(kWideArc) : kNarrowArc;
    const std::string inverse = f.op("fdiv", f.number(1), under);
    const std::string quotient = f.op("fmul", over, inverse);
    const std::string minus = f.w.set("fneg {} {}", f.type, quotient);
    const std::string lacks = turned(f.op("fmul", f.fma(minus, under, over), inverse));
    const std::string t = f.op("fmul", quotient, quotient), part = turned(quotient);
    // The sum with quarters of a turn, and what it loses. The slope of the arc tangent is
    // 1 / (1 + t), for which 1 - t / 2 will do.
    const double pi = f.of_width(0x1.921fb6p+1, 0x1.921fb54442d18p+1);
    const double pi_lacks = f.of_width(-0x1.777a5cp-24, 0x1.1a62633145c07p-53);
    const std::string base = quarters(pi / 2, pi), sum = f.op("fadd", base, part);
    std::string rest = f.op("fsub", part, f.op("fsub", sum, base));
    rest = f.op("fadd", rest, quarters(pi_lacks / 2, pi_lacks));
    rest = f.fma(lacks, f.fma(t, f.number(-0.5), f.number(1)), rest);
    return f.op("fadd", sum, f.fma(f.op("fmul", part, t), f.polynomial(t, powers), rest));
  }

  // A positive number as m * 2^e, where m is from 1 to 2, as bits.
  struct Parted {
    std::string m, e;
  };
  Parted parted(const std::string& bits) const {
    const std::string subnormal = f.below(bits, f.of_width(0x1p-126, 0x1p-1022));
    const std::string held = f.pick_bits(subnormal, f.as_bits(f.steps(bits)), bits);
    const std::string field = f.bits("lshr", held, f.integer(mantissa));
    const std::string low = f.bits("and", held, f.integer((std::int64_t{1} << mantissa) - 1));
    return {f.bits("or", low, f.integer(f.bits_of_number(1))),
            f.pick_bits(subnormal, f.bits("sub", field, f.integer(f.smallest())), field)};
  }

  // The quotient is m * 2^d. It is taken as far as `near`; what is left of d scales the result
  // where that is the quotient, and is lost beside quarters of a turn elsewhere.
  std::string value() const {
    const Parted over = parted(least), under = parted(most);
    const std::string furthest = whole(-180, -1300);
    const std::string between = f.larger(f.bits("sub", over.e, under.e), furthest);
    // Of 0, and beside infinity.
    const std::string finite = f.compare("slt", least, f.integer(f.bits_of_number(INFINITY)));
    const std::string none = either(f.compare("eq", least, f.integer(0)),
                                    f.w.set("and {} {}, {}", f.truth, finite, is_infinite(most)));
    const std::string d = f.pick_bits(none, furthest, between);
    const std::string near = f.larger(d, whole(-30, -60));
    const std::string angle =
        of(f.as_float(f.bits("add", over.m, moved(near))), f.as_float(under.m));
    const std::string by = f.pick_bits(either(steep, left), f.integer(0), f.bits("sub", d, near));
    // So small a quotient is from 2^-31 to 2^-29 or from 2^-61 to 2^-59, which tells from where on
    // its smallest steps are to be counted.
    const std::string small = f.compare("slt", by, whole(-95, -961));
    const std::string up = f.bits("add", by, f.integer(f.smallest()));
    const std::string scaled =
        f.as_float(f.bits("add", f.as_bits(angle), moved(f.pick_bits(small, up, by))));
    const std::string found = has_whole_avx512(f) ? avx512_whole_where(f, small, scaled)
                                                  : f.pick(small, f.from_any_steps(scaled), scaled);
    const std::string nan = f.compare("sgt", most, f.integer(f.bits_of_number(INFINITY)));
    return f.pick(nan, f.number(NAN), found);
  }
};

}  // namespace

std::string emit_atan2(LlvmWriter& w, const LlvmValue& y, const LlvmValue& x) {
  const Floats f{w, x.lanes, x.type == DType::f64};
  const Direction direction{f, y, x};
  return f.with_sign(direction.value(), y.text);
}

}  // namespace heddle
