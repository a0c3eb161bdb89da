// Arithmetic on f32 or f64, scalars or vectors, as it stands: nothing is regrouped or contracted.
//
// A multiplication that takes or gives a subnormal number costs some processors a hundred times as
// much as any other. What may meet one is computed in its smallest steps instead: as many as the
// bits of the number say, which is a whole number and an ordinary float.
#pragma once

#include <bit>

#include "kernel/emit_llvm_writer.h"

namespace heddle {

struct Floats {
  LlvmWriter& w;
  int lanes;
  bool wide = false;
  std::string_view scalar = wide ? "double" : "float", whole = wide ? "i64" : "i32";
  std::string type = LlvmWriter::vector_of(scalar, lanes);
  std::string truth = LlvmWriter::vector_of("i1", lanes);
  std::string integers = LlvmWriter::vector_of(whole, lanes);
  std::string suffix = LlvmWriter::suffix(scalar, lanes);

  // ---- constants
  std::string constant(std::string_view hex) const {
    return lanes == 0 ? std::string(hex) : w.splat(hex, scalar, lanes);
  }
  // Rounded to the type.
  std::string number(double value) const {
    const double held = wide ? value : static_cast<float>(value);
    return constant(fmt::format("0x{:016X}", std::bit_cast<std::uint64_t>(held)));
  }
  std::string integer(std::int64_t value) const {
    return lanes == 0 ? std::to_string(value) : w.splat(std::to_string(value), whole, lanes);
  }
  std::int64_t bits_of_number(double value) const {
    return wide ? std::bit_cast<std::int64_t>(value)
                : std::bit_cast<std::int32_t>(static_cast<float>(value));
  }
  double of_width(double narrow_value, double wide_value) const {
    return wide ? wide_value : narrow_value;
  }

  // ---- arithmetic
  std::string op(std::string_view word, std::string_view a, std::string_view b) const {
    return w.set("{} {} {}, {}", word, type, a, b);
  }
  std::string bits(std::string_view word, std::string_view a, std::string_view b) const {
    return w.set("{} {} {}, {}", word, integers, a, b);
  }
  std::string fma(std::string_view a, std::string_view b, std::string_view c) const {
    return w.call(type, "llvm.fma." + suffix,
                  fmt::format("{0} {1}, {0} {2}, {0} {3}", type, a, b, c));
  }
  std::string abs(std::string_view a) const {
    return w.call(type, "llvm.fabs." + suffix, fmt::format("{} {}", type, a));
  }
  std::string with_sign(std::string_view size, std::string_view sign) const {
    return w.call(type, "llvm.copysign." + suffix,
                  fmt::format("{0} {1}, {0} {2}", type, size, sign));
  }
  // The last coefficient belongs to the highest power.
  std::string polynomial(std::string_view x, std::span<const std::string_view> coefficients) const {
    std::string sum = constant(coefficients.back());
    for (std::size_t i = coefficients.size() - 1; i-- > 0;)
      sum = fma(sum, x, constant(coefficients[i]));
    return sum;
  }

  // ---- choices
  std::string pick(std::string_view condition, std::string_view yes, std::string_view no) const {
    return w.set("select {0} {1}, {2} {3}, {2} {4}", truth, condition, type, yes, no);
  }
  std::string pick_bits(std::string_view condition, std::string_view yes,
                        std::string_view no) const {
    return w.set("select {0} {1}, {2} {3}, {2} {4}", truth, condition, integers, yes, no);
  }
  // `yes` where a < or > b; NaN goes to `no`.
  std::string where(std::string_view word, std::string_view a, std::string_view b,
                    std::string_view yes, std::string_view no) const {
    return pick(w.set("fcmp {} {} {}, {}", word, type, a, b), yes, no);
  }
  // NaN stays.
  std::string at_most(std::string_view x, double most) const {
    return where("ogt", x, number(most), number(most), x);
  }
  std::string at_least(std::string_view x, double least) const {
    return where("olt", x, number(least), number(least), x);
  }

  // ---- bits, by which numbers are compared that may be subnormal
  std::string as_bits(std::string_view x) const {
    return w.set("bitcast {} {} to {}", type, x, integers);
  }
  std::string as_float(std::string_view b) const {
    return w.set("bitcast {} {} to {}", integers, b, type);
  }
  // Those of |x|.
  std::string magnitude(std::string_view x) const {
    return bits("and", as_bits(x), integer(wide ? INT64_MAX : INT32_MAX));
  }
  std::string compare(std::string_view word, std::string_view a, std::string_view b) const {
    return w.set("icmp {} {} {}, {}", word, integers, a, b);
  }
  // Of bits as signed integers, which those of positive numbers are in order by.
  std::string larger(std::string_view a, std::string_view b) const {
    return extremum("smax", a, b);
  }
  std::string smaller(std::string_view a, std::string_view b) const {
    return extremum("smin", a, b);
  }
  std::string extremum(std::string_view word, std::string_view a, std::string_view b) const {
    return w.call(integers, fmt::format("llvm.{}.{}", word, LlvmWriter::suffix(whole, lanes)),
                  fmt::format("{0} {1}, {0} {2}", integers, a, b));
  }
  // Whether |x| < limit; not for NaN.
  std::string below(std::string_view of_magnitude, double limit) const {
    return compare("slt", of_magnitude, integer(bits_of_number(limit)));
  }

  // ---- smallest steps: 2^-149 and 2^-1074
  int smallest() const { return wide ? 1074 : 149; }
  double step_base() const { return of_width(0x1p23, 0x1p52); }
  // How many a subnormal number is; anything for others.
  std::string steps(std::string_view of_magnitude) const {
    if (!wide) return w.set("sitofp {} {} to {}", integers, of_magnitude, type);
    // Not every processor converts such integers.
    const std::string low = bits("and", of_magnitude, integer((std::int64_t{1} << 52) - 1));
    const std::string held = bits("or", low, integer(bits_of_number(step_base())));
    return op("fsub", as_float(held), number(step_base()));
  }
  // Whether one instruction rounds to whole numbers.
  bool converts() const {
    return w.target.family == VectorTarget::Family::x86 &&
           (!wide || lanes == 0 || w.target.vector_bytes == 64);
  }
  // The bits of the number of so many, fewer than 2^23 or 2^52: rounded once.
  std::string bits_from_steps(std::string_view count) const {
    if (converts())
      return w.call(integers,
                    fmt::format("llvm.lrint.{}.{}", LlvmWriter::suffix(whole, lanes), suffix),
                    fmt::format("{} {}", type, count));
    const std::string sum = as_bits(op("fadd", count, number(step_base())));
    return bits("sub", sum, integer(bits_of_number(step_base())));
  }
  // The same for twice as many. The bits count on into the first normal numbers; where a sum
  // rounds, those get their smaller exponent instead.
  std::string from_any_steps(std::string_view count) const {
    if (converts()) return as_float(bits_from_steps(count));
    const std::string few = w.set("fcmp olt {} {}, {}", type, count, number(step_base()));
    const std::int64_t down = static_cast<std::int64_t>(smallest()) << (wide ? 52 : 23);
    return as_float(
        pick_bits(few, bits_from_steps(count), bits("sub", as_bits(count), integer(down))));
  }
};

// Whether a condition holds for some lane, to branch by: lanes that nobody wants may hold anything.
inline std::string any_of(const Floats& f, const std::string& condition) {
  const std::string any = f.lanes == 0
                              ? condition
                              : f.w.call("i1", fmt::format("llvm.vector.reduce.or.v{}i1", f.lanes),
                                         fmt::format("{} {}", f.truth, condition));
  return f.w.set("freeze i1 {}", any);
}

}  // namespace heddle
