#include "kernel/emit_llvm_angles.h"

#include <array>
#include <cmath>

#include "kernel/emit_llvm_avx512.h"

namespace heddle {

namespace {

// 2^s for s = 0, 7, 23, ..., 103, less whole turns and over 2^s: what a multiple of 2^s is to be
// multiplied with; and what that lacks.
constexpr std::array<double, 8> kTurned = {0x1.0000000000000p+0,   0x1.2b0bad558f435p-6,
                                           0x1.58e8ec12c0aa8p-22,  -0x1.5ca6dfeaae1f6p-39,
                                           -0x1.1d1afdb068d79p-54, -0x1.82ac8377ff216p-70,
                                           -0x1.214a9b91233b2p-90, -0x1.18d516aac2c18p-102};
constexpr std::array<double, 8> kTurnedRest = {0x0.0p+0,
                                               -0x1.f5f7fb2e61132p-64,
                                               0x1.95c955afd3e7bp-76,
                                               -0x1.60cab403f9f91p-96,
                                               0x1.5f73ca773bc62p-108,
                                               0x1.17955574142a1p-125,
                                               0x1.45f5262caae07p-145,
                                               0x1.496ae25bb3dc1p-156};

// Angles in f64: x = quarters * pi / 2 + rest.
struct Angles {
  const Floats f;
  std::string rest, quarters;  // as bits, of which the last two count

  explicit Angles(LlvmWriter& w, int lanes) : f{w, lanes, true} {}

  std::string widened(const LlvmValue& x) const {
    return f.w.set("fpext {} {} to {}", LlvmWriter::vector_of("float", x.lanes), x.text, f.type);
  }

  // Of angle + lacking, where the angle is below 2^42 and a multiple of 2^-11 if it is above 2^30.
  void reduce(const std::string& angle, const std::string& lacking) {
    const std::string base = f.number(0x1.8p52);
    const std::string sum = f.fma(angle, f.number(0x1.45f306dc9c883p-1), base);
    const std::string turns = f.op("fsub", sum, base);
    const std::string rough = f.fma(turns, f.number(-0x1.921fb54442d18p+0), angle);
    const std::string less = f.number(-0x1.1a62633145c07p-54);
    rest = lacking.empty() ? f.fma(turns, less, rough)
                           : f.op("fadd", rough, f.fma(turns, less, lacking));
    quarters = f.as_bits(sum);
  }

  void reduce_any(const LlvmValue& x, const std::string& size) {
    if (has_whole_avx512(f)) return reduce_by_groups(x, size);
    const ReducedAngle reduced = reduce_any_angle(f, widened(x));
    rest = reduced.rest.high;
    quarters = reduced.quarters;
  }

  // A float of 2^30 and more is a whole multiple of 2^s, and whole turns of 2^s do not count: the
  // groups of 16 exponents have an s each, and numbers below are multiples of 1.
  void reduce_by_groups(const LlvmValue& x, const std::string& size) {
    const Floats narrow{f.w, x.lanes};
    const std::string first = narrow.integer(narrow.bits_of_number(0x1p14));
    const std::string above = narrow.bits("sub", narrow.larger(size, first), first);
    const std::string group = narrow.bits("lshr", above, narrow.integer(27));
    const std::string index = f.w.set("zext {} {} to {}", narrow.integers, group, f.integers);
    const std::string given = widened(x), by = avx512_lookup(f, kTurned, index);
    const std::string angle = f.op("fmul", given, by);
    const std::string lost = f.fma(given, by, f.w.set("fneg {} {}", f.type, angle));
    reduce(angle, f.fma(given, avx512_lookup(f, kTurnedRest, index), lost));
  }

  std::string has_bit(int bit) const {
    return f.compare("ne", f.bits("and", quarters, f.integer(bit)), f.integer(0));
  }

  std::string value(ScalarOp op) const {
    constexpr std::string_view of_sine[] = {"0xBFC5555555449DD6", "0x3F811110DBE76A77",
                                            "0xBF2A013664E4A749", "0x3EC6DA90E31B6E66"};
    constexpr std::string_view of_cosine[] = {"0x3FF0000000000000", "0xBFDFFFFFFFA4359B",
                                              "0x3FA55554C35CAD35", "0xBF56C0DAF0DB90E2",
                                              "0x3EF9A526B5688D32"};
    const std::string square = f.op("fmul", rest, rest);
    const std::string sine = f.fma(f.op("fmul", square, rest), f.polynomial(square, of_sine), rest);
    const std::string cosine = f.polynomial(square, of_cosine), odd = has_bit(1);
    if (op == ScalarOp::sin) return negative_in_lower_half(f, f.pick(odd, cosine, sine), quarters);
    if (op == ScalarOp::cos)
      return negative_in_lower_half(f, f.pick(odd, sine, cosine),
                                    f.bits("add", quarters, f.integer(1)));
    const std::string over = f.pick(odd, f.w.set("fneg {} {}", f.type, cosine), sine);
    return f.op("fdiv", over, f.pick(odd, sine, cosine));
  }
};

}  // namespace

std::string negative_in_lower_half(const Floats& f, const std::string& value,
                                   const std::string& quarters) {
  const std::string lower = f.bits("and", quarters, f.integer(2));
  const std::string sign = f.bits("shl", lower, f.integer(62));
  return f.as_float(f.bits("xor", f.as_bits(value), sign));
}

std::string is_huge_angle(const Floats& f, const std::string& x) {
  const std::string size = f.magnitude(x);
  return f.w.set("and {} {}, {}", f.truth,
                 f.compare("sge", size, f.integer(f.bits_of_number(0x1p30))),
                 f.compare("slt", size, f.integer(f.bits_of_number(INFINITY))));
}

std::string of_angle(LlvmWriter& w, ScalarOp op, const LlvmValue& x) {
  const Floats f{w, x.lanes, x.type == DType::f64};
  const std::string size = f.magnitude(x.text);
  const std::string huge = is_huge_angle(f, x.text);
  const std::string result = w.stack(f.type, 64);
  const std::string far = w.label(), near = w.label(), after = w.label();
  const auto ends_with = [&](const std::string& value) {
    w.put("store {} {}, ptr {}", f.type, value, result);
    w.branch(after);
  };
  const auto value_of = [&](const Angles& angles) {
    return w.set("fptrunc {} {} to {}", angles.f.type, angles.value(op), f.type);
  };
  w.branch(any_of(f, huge), far, near);
  w.place(near);
  if (f.wide) {
    ends_with(of_wide_angle(f, op, x.text, false));
  } else {
    Angles few(w, x.lanes);
    few.reduce(few.widened(x), {});
    ends_with(value_of(few));
  }
  w.place(far);
  if (f.wide) {
    ends_with(of_wide_angle(f, op, x.text, true));
  } else {
    Angles any(w, x.lanes);
    any.reduce_any(x, size);
    ends_with(value_of(any));
  }
  w.place(after);
  return w.set("load {}, ptr {}", f.type, result);
}

}  // namespace heddle
