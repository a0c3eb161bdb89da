#include "kernel/emit_llvm_guard.h"

#include <array>
#include <cmath>

#include "kernel/emit_llvm_angles.h"
#include "kernel/emit_llvm_avx512.h"

namespace heddle {

namespace {

struct Guard {
  const Floats& f;
  const LlvmValue& x;
  const PlainFunction& function;

  std::string of(const std::string& argument) const {
    LlvmValue value = x;
    value.text = argument;
    return function(std::array{value});
  }
  std::string all() const { return f.magnitude(x.text); }

  // Next to 0 it is x.
  std::string odd(double narrow, double wide, double least, double most) const {
    const std::string next = f.below(all(), f.of_width(narrow, wide));
    const std::string safe = f.pick(next, f.number(0), x.text);
    return f.pick(next, x.text, of(least < most ? f.at_least(f.at_most(safe, most), least) : safe));
  }

  // Next to 0 it is a constant.
  std::string even() const {
    return of(f.pick(f.below(all(), f.of_width(0x1p-13, 0x1p-27)), f.number(0), x.text));
  }

  // A subnormal number as its smallest steps; others as they are.
  std::string raised(const std::string& subnormal) const {
    return f.pick(subnormal, f.with_sign(f.steps(all()), x.text), x.text);
  }

  // A root of x * 2^k is the root of x, times 2^by; with f32 that is twice the smallest steps.
  std::string root(int by) const {
    const std::string subnormal = is_subnormal(f, x.text);
    std::string up = raised(subnormal);
    if (!f.wide) up = f.pick(subnormal, f.op("fadd", up, up), up);
    const std::string value = of(up), down = f.number(std::ldexp(1.0, by));
    // A multiplication under a mask, or one by 1: others than subnormal numbers are not scaled.
    if (has_avx512(f)) return f.pick(subnormal, f.op("fmul", value, down), value);
    return f.op("fmul", value, f.pick(subnormal, down, f.number(1)));
  }

  std::string log() const {
    const std::string subnormal = is_subnormal(f, x.text);
    const std::string value = of(raised(subnormal));
    // log 2^-1074, in two parts.
    const std::string low = f.op("fadd", value, f.number(-4.422444340918698e-14));
    return f.pick(subnormal, f.op("fadd", low, f.number(-744.4400719213812)), value);
  }

  // Next to 0 it is x. The largest, which SLEEF takes for infinite, by a power of two less: there
  // the 1 is lost either way.
  std::string log1p() const {
    const std::string size = all(), next = f.below(size, f.of_width(0x1p-25, 0x1p-54));
    const std::string safe = f.pick(next, f.number(0), x.text);
    const std::string large =
        f.w.set("fcmp ogt {} {}, {}", f.type, safe, f.number(f.of_width(0x1p120, 0x1p1000)));
    const std::string less = f.op("fmul", safe, f.number(f.of_width(0x1p-64, 0x1p-512)));
    const std::string value = of(f.pick(large, less, safe));
    // 64 log 2 and 512 log 2, in two parts.
    const std::string low =
        f.op("fadd", value, f.number(f.of_width(-1.2189786957605975e-07, 1.1873519686893054e-14)));
    const std::string sum =
        f.op("fadd", low, f.number(f.of_width(44.361419677734375, 354.891356446692)));
    return f.pick(next, x.text, f.pick(large, sum, value));
  }

  // Near 0 it is x * 2 / sqrt pi; from 6 on it is 1.
  std::string erf() const {
    const std::string size = all(), subnormal = is_subnormal(f, x.text);
    const std::string next = f.below(size, 0x1p-28);
    const std::string value = of(f.at_least(f.at_most(f.pick(next, f.number(0), x.text), 6), -6));
    const std::string base = f.pick(subnormal, f.steps(size), f.as_float(size));
    const std::string sum = f.fma(base, f.number(0.12837916709551256), base);
    const std::string near = f.pick(subnormal, f.from_any_steps(sum), sum);
    return f.pick(next, f.with_sign(near, x.text), value);
  }
};

// Powers. Those that end as a subnormal number are the square of |x|^(y/2), in smallest steps; 0
// and infinity are seen before. A subnormal x is not kept away.
struct PowerGuard {
  const Floats& f;
  const LlvmValue &x, &y;
  const PlainFunction& function;

  // log2 of |x|, within 2e-4 of itself.
  std::string rough_log2(const std::string& size) const {
    const int mantissa = f.wide ? 52 : 23;
    const std::string exponent = f.bits("or", f.bits("lshr", size, f.integer(mantissa)),
                                        f.integer(f.bits_of_number(f.step_base())));
    const std::string whole =
        f.op("fsub", f.as_float(exponent), f.number(f.step_base() + (f.wide ? 1023 : 127)));
    const std::string field =
        f.bits("or", f.bits("and", size, f.integer((std::int64_t{1} << mantissa) - 1)),
               f.integer(f.bits_of_number(1)));
    const std::string m = f.op("fsub", f.as_float(field), f.number(1));
    std::string rest = f.number(-0.0446003538957392);
    for (double c : {0.150521838222039, -0.269846661528975, 0.442460304548483})
      rest = f.fma(rest, m, f.number(c));
    const std::string bend = f.op("fmul", m, f.op("fsub", f.number(1), m));
    return f.fma(bend, rest, f.op("fadd", whole, m));
  }

  // An exponent next to 0 gives 1 as any other one there does.
  std::string held_exponent() const {
    const std::string size = f.magnitude(y.text);
    const double least = f.of_width(0x1p-40, 0x1p-70);
    const std::string near = f.pick(f.compare("eq", size, f.integer(0)), f.number(0),
                                    f.with_sign(f.number(least), y.text));
    return f.pick(f.below(size, least), near, y.text);
  }

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
  LlvmValue like(const LlvmValue& model, const std::string& text) const {
    LlvmValue value = model;
    value.text = text;
    return value;
  }

  // The sign of an odd power of a negative number; NaN for one that is no whole power.
  std::string signed_as_power(const std::string& value, const std::string& size,
                              const std::string& exponent, const std::string& half) const {
    const std::string negative = f.compare("slt", f.as_bits(x.text), f.integer(0));
    const std::string whole = floats("oeq", floor(exponent), exponent);
    const std::string odd = both(whole, floats("one", floor(half), half));
    const std::string finite = both(f.compare("ne", size, f.integer(0)),
                                    f.compare("slt", size, f.integer(f.bits_of_number(INFINITY))));
    const std::string turned =
        f.pick(both(negative, odd), f.w.set("fneg {} {}", f.type, value), value);
    const std::string broken = floats("one", floor(exponent), exponent);
    return f.pick(both(both(negative, finite), broken), f.number(NAN), turned);
  }

  std::string value() const {
    const std::string size = f.magnitude(x.text), exponent = held_exponent();
    const std::string half = f.op("fmul", exponent, f.number(0.5));
    const std::string rough = f.op("fmul", exponent, rough_log2(size));
    const std::string infinite = f.integer(f.bits_of_number(INFINITY));
    const std::string a_number = f.compare("sle", size, infinite);
    const std::string no_number = f.compare("sgt", size, infinite);
    const auto ends = [&](std::string_view word, double narrow, double wide) {
      return both(a_number, floats(word, rough, f.number(f.of_width(narrow, wide))));
    };
    const std::string low = ends("olt", -125.97, -1021.8), zero = ends("olt", -151, -1077);
    const std::string high = ends("ogt", 129, 1025), ended = either(zero, high);
    // In the place of what is known already stands a power of 1.
    const std::string base =
        f.pick(either(ended, no_number), f.number(1), f.pick(low, f.as_float(size), x.text));
    const std::string by = f.pick(ended, f.number(1), f.pick(low, half, exponent));
    const std::string root = function(std::array{like(x, base), like(y, by)});
    const std::string steps =
        f.op("fmul", f.op("fmul", root, f.number(f.of_width(0x1p75, 0x1p537))),
             f.op("fmul", root, f.number(f.of_width(0x1p74, 0x1p537))));
    const std::string small = f.pick(zero, f.number(0), f.from_any_steps(steps));
    const std::string end = f.pick(high, f.number(INFINITY), small);
    const std::string there =
        f.pick(either(low, high), signed_as_power(end, size, exponent, half), root);
    // NaN to the power of 0 is 1.
    const std::string some = floats("une", exponent, f.number(0));
    return f.pick(both(no_number, some), f.number(NAN), there);
  }
};

}  // namespace

std::string guarded(LlvmWriter& w, ScalarOp op, std::span<const LlvmValue> in,
                    const PlainFunction& library) {
  if (w.target.family == VectorTarget::Family::generic) return library(in);
  const bool wide = in[0].type == DType::f64;
  const bool angle = op == ScalarOp::sin || op == ScalarOp::cos || op == ScalarOp::tan;
  const PlainFunction function = !angle ? library : [&](std::span<const LlvmValue> safe) {
    return of_angle(w, op, safe[0]);
  };
  const Floats f{w, in[0].lanes, wide};
  const Guard guard{f, in[0], function};
  switch (op) {
    case ScalarOp::sin:
      return guard.odd(0x1p-12, 0x1p-26, 0, 0);
    case ScalarOp::tan:
      return guard.odd(0x1p-13, 0x1p-27, 0, 0);
    case ScalarOp::tanh:
      return guard.odd(0x1p-13, 0x1p-27, -22, 22);
    case ScalarOp::log1p:
      return guard.log1p();
    case ScalarOp::expm1:  // -1 below, infinite above
      return guard.odd(0x1p-25, 0x1p-54, f.of_width(-20, -40), f.of_width(89, 710));
    case ScalarOp::cos:
      return guard.even();
    case ScalarOp::sqrt:
      return guard.root(wide ? -537 : -75);
    case ScalarOp::rsqrt:
      return guard.root(wide ? 537 : 75);
    case ScalarOp::cbrt:
      return guard.root(wide ? -358 : -50);
    case ScalarOp::log:
      return guard.log();
    case ScalarOp::erf:
      return guard.erf();
    case ScalarOp::power:
      return PowerGuard{f, in[0], in[1], function}.value();
    case ScalarOp::atan2:
      return guarded_atan2(w, in, function);
    default:
      return function(in);
  }
}

}  // namespace heddle
