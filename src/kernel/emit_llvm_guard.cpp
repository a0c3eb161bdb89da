#include "kernel/emit_llvm_guard.h"

#include <array>
#include <cmath>

#include "kernel/emit_llvm_angles.h"
#include "kernel/emit_llvm_atan2.h"
#include "kernel/emit_llvm_avx512.h"
#include "kernel/emit_llvm_power.h"

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

}  // namespace

std::string guarded(LlvmWriter& w, ScalarOp op, std::span<const LlvmValue> in,
                    const PlainFunction& library) {
  if (w.target.family == VectorTarget::Family::generic) return library(in);
  const bool wide = in[0].type == DType::f64;
  const bool angle = op == ScalarOp::sin || op == ScalarOp::cos || op == ScalarOp::tan;
  const PlainFunction function =
      !angle ? library : [&](std::span<const LlvmValue> safe) { return of_angle(w, op, safe[0]); };
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
      return emit_power(w, in[0], in[1]);
    case ScalarOp::atan2:
      return emit_atan2(w, in[0], in[1]);
    default:
      return function(in);
  }
}

}  // namespace heddle
