// exp, log, tanh and erf of f32 in line, at most 1 ulp off: a call would cost every vector
// register.
#include "kernel/emit_llvm_inline.h"

namespace heddle {

namespace {

// Arithmetic on one type of float, as it stands: nothing is regrouped or contracted here.
struct Floats {
  LlvmWriter& w;
  int lanes;
  std::string type = LlvmWriter::vector_of("float", lanes);
  std::string truth = LlvmWriter::vector_of("i1", lanes);
  std::string integers = LlvmWriter::vector_of("i32", lanes);
  std::string suffix = LlvmWriter::suffix("float", lanes);

  std::string constant(std::string_view hex) const {
    return lanes == 0 ? std::string(hex) : w.splat(hex, "float", lanes);
  }
  std::string integer(std::int64_t value) const {
    return lanes == 0 ? std::to_string(value) : w.splat(std::to_string(value), "i32", lanes);
  }
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
  // `yes` where a < or > b; NaN goes to `no`.
  std::string where(std::string_view word, std::string_view a, std::string_view b,
                    std::string_view yes, std::string_view no) const {
    const std::string condition = w.set("fcmp {} {} {}, {}", word, type, a, b);
    return w.set("select {0} {1}, {2} {3}, {2} {4}", truth, condition, type, yes, no);
  }
  // The last coefficient belongs to the highest power.
  std::string polynomial(std::string_view x, std::span<const std::string_view> coefficients) const {
    std::string sum = constant(coefficients.back());
    for (std::size_t i = coefficients.size() - 1; i-- > 0;)
      sum = fma(sum, x, constant(coefficients[i]));
    return sum;
  }
};

// Whether AVX-512 has instructions for such vectors; longer ones are taken in parts of 16.
bool has_avx512(const Floats& f) {
  return f.w.target.family == VectorTarget::Family::x86 && f.w.target.vector_bytes == 64 &&
         (f.lanes == 4 || f.lanes == 8 || f.lanes % 16 == 0) && f.lanes > 0;
}

// An instruction of AVX-512 on one or two vectors, with what follows them in the call.
std::string avx512(const Floats& f, std::string_view name, std::vector<std::string> in,
                   std::string_view immediate = {}) {
  LlvmWriter& w = f.w;
  const int each = std::min(f.lanes, 16);
  const std::string type = LlvmWriter::vector_of("float", each);
  auto lanes_from = [&](int first, int count, int from) {
    std::vector<std::string> order;
    for (int i = 0; i < count; ++i) order.push_back(fmt::format("i32 {}", from + first + i));
    return fmt::format("<{} x i32> <{}>", count, fmt::join(order, ", "));
  };
  std::string whole;
  for (int first = 0; first < f.lanes; first += each) {
    std::string arguments;
    for (const std::string& x : in) {
      const std::string part = f.lanes == each ? x
                                               : w.set("shufflevector {0} {1}, {0} poison, {2}",
                                                       f.type, x, lanes_from(first, each, 0));
      arguments += fmt::format("{} {}, ", type, part);
    }
    arguments += fmt::format("{}{} zeroinitializer, {}", immediate, type,
                             each == 16 ? "i16 -1, i32 4" : "i8 -1");
    const std::string made =
        w.call(type, fmt::format("llvm.x86.avx512.mask.{}.ps.{}", name, 32 * each), arguments);
    if (first == 0)
      whole = made;
    else
      whole = w.set("shufflevector {0} {1}, {2} {3}, {4}", LlvmWriter::vector_of("float", first),
                    whole, type, made, lanes_from(0, first + each, 0));
  }
  return whole;
}

constexpr std::string_view kOne = "0x3FF0000000000000", kTwo = "0x4000000000000000";

// x * 2^n for a whole n that may leave the range of floats: one instruction, or two steps.
std::string scaled(const Floats& f, const std::string& x, const std::string& n,
                   const std::string& magic_sum) {
  LlvmWriter& w = f.w;
  if (has_avx512(f)) return avx512(f, "scalef", {x, n});
  const std::string bits = w.set("bitcast {} {} to {}", f.type, magic_sum, f.integers);
  const std::string whole = f.bits("sub", bits, f.integer(0x4b400000));
  const std::string half = f.bits("ashr", whole, f.integer(1));
  auto power = [&](const std::string& exponent) {
    const std::string field = f.bits("shl", f.bits("add", exponent, f.integer(127)), f.integer(23));
    return w.set("bitcast {} {} to {}", f.integers, field, f.type);
  };
  return f.op("fmul", f.op("fmul", x, power(half)), power(f.bits("sub", whole, half)));
}

// e^x for x between -105 and 90: 2^n * e^r with |r| <= ln 2 / 2.
std::string exp_in_range(const Floats& f, const std::string& x) {
  // Adding 1.5 * 2^23 rounds to a whole number.
  const std::string magic = f.constant("0x4168000000000000");
  const std::string sum = f.fma(x, f.constant("0x3FF7154760000000"), magic);
  const std::string n = f.op("fsub", sum, magic);
  const std::string rough = f.fma(n, f.constant("0xBFE62E4300000000"), x);
  const std::string r = f.fma(n, f.constant("0x3E205C6100000000"), rough);
  constexpr std::string_view powers[] = {kOne,
                                         kOne,
                                         "0x3FDFFFFFC0000000",
                                         "0x3FC5554900000000",
                                         "0x3FA5558A60000000",
                                         "0x3F8123AEA0000000",
                                         "0x3F56A59FA0000000"};
  return scaled(f, f.polynomial(r, powers), n, sum);
}

std::string exp_of(const Floats& f, const std::string& x) {
  // Beyond these the result is infinite or 0; a NaN stays.
  const std::string most = f.constant("0x4056800000000000"),
                    least = f.constant("0xC05A400000000000");
  const std::string below = f.where("ogt", x, most, most, x);
  return exp_in_range(f, f.where("olt", below, least, least, below));
}

// Near 0 an odd polynomial, else 1 - 2 / (e^2x + 1).
std::string tanh_of(const Floats& f, const std::string& x) {
  constexpr std::string_view powers[] = {
      "0xBFD55554E0000000", "0x3FC110F380000000", "0xBFAB9CA4E0000000", "0x3F962F1CA0000000",
      "0xBF80ED7AA0000000", "0x3F6529D640000000", "0xBF3DDD8C40000000"};
  const std::string size = f.abs(x), square = f.op("fmul", x, x), one = f.constant(kOne);
  const std::string near = f.fma(f.op("fmul", size, square), f.polynomial(square, powers), size);
  const std::string e = exp_of(f, f.op("fadd", size, size));
  const std::string rest = f.op("fdiv", f.constant(kTwo), f.op("fadd", e, one));
  const std::string far = f.op("fsub", one, rest);
  return f.with_sign(f.where("olt", size, f.constant("0x3FECCCCCC0000000"), near, far), x);
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
  const std::string size = f.abs(x), square = f.op("fmul", x, x);
  const std::string near = f.fma(size, f.polynomial(square, odd), size);
  const std::string most = f.constant("0x400F9999A0000000");
  const std::string held = f.where("ogt", size, most, most, size);
  const std::string rest = exp_in_range(f, f.polynomial(held, exponent));
  const std::string far = f.op("fsub", f.constant(kOne), rest);
  return f.with_sign(f.where("olt", size, f.constant("0x3FF0000000000000"), near, far), x);
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
std::string log_of(const Floats& f, const std::string& x) {
  const std::string one = f.constant(kOne);
  if (has_avx512(f)) {
    // The mantissa in that range, NaN below 0; the exponent of it tells what x's own lacks.
    const std::string m = avx512(f, "getmant", {x}, "i32 11, ");
    const std::string e = f.op("fsub", avx512(f, "getexp", {x}), avx512(f, "getexp", {m}));
    const std::string sum = log_from(f, f.op("fsub", m, one), e);
    // Of 0 and infinity the exponent is the result.
    return f.where("olt", f.abs(e), f.constant("0x7FF0000000000000"), sum, e);
  }
  LlvmWriter& w = f.w;
  // Denormal numbers are brought up by 2^23.
  const std::string least = f.constant("0x3810000000000000"), zero = f.constant("0.0");
  const std::string up = f.op("fmul", x, f.constant("0x4160000000000000"));
  const std::string normal = f.where("olt", x, least, up, x);
  const std::string raised = f.where("olt", x, least, f.constant("-23.0"), zero);
  const std::string bits = w.set("bitcast {} {} to {}", f.type, normal, f.integers);
  const std::string whole =
      f.bits("ashr", f.bits("sub", bits, f.integer(0x3f400000)), f.integer(23));
  const std::string field = f.bits("sub", bits, f.bits("shl", whole, f.integer(23)));
  const std::string m = w.set("bitcast {} {} to {}", f.integers, field, f.type);
  const std::string steps = w.set("sitofp {} {} to {}", f.integers, whole, f.type);
  const std::string sum = log_from(f, f.op("fsub", m, one), f.op("fadd", steps, raised));
  const std::string infinite = f.constant("0x7FF0000000000000");
  const std::string low =
      f.where("oeq", x, zero, f.constant("0xFFF0000000000000"), f.constant("0x7FF8000000000000"));
  return f.where("ogt", x, zero, f.where("olt", x, infinite, sum, x), low);
}

}  // namespace

bool has_inline_form(const LlvmWriter& writer, ScalarOp op, const LlvmValue& x) {
  return writer.target.family != VectorTarget::Family::generic && x.type != DType::f64 &&
         (op == ScalarOp::exp || op == ScalarOp::tanh || op == ScalarOp::erf ||
          op == ScalarOp::log);
}

std::string emit_inline(LlvmWriter& writer, ScalarOp op, const LlvmValue& x) {
  const Floats f{writer, x.lanes};
  if (op == ScalarOp::exp) return exp_of(f, x.text);
  if (op == ScalarOp::log) return log_of(f, x.text);
  return op == ScalarOp::tanh ? tanh_of(f, x.text) : erf_of(f, x.text);
}

}  // namespace heddle
