// Conversions between element types, and between registers and memory.
#include <bit>
#include <cmath>

#include "kernel/emit_llvm_ops.h"

namespace heddle {

namespace {

LlvmValue value(std::string text, DType type, int lanes) {
  return {std::move(text), type, lanes, false};
}

std::string cast(LlvmWriter& w, std::string_view word, const LlvmValue& x, std::string_view to) {
  return w.set("{} {} {} to {}", word, LlvmWriter::type_of(x), x.text,
               LlvmWriter::vector_of(to, x.lanes));
}

// Integer constants of some lanes.
std::string number_of(LlvmWriter& w, std::string_view scalar, int lanes, std::int64_t n) {
  return lanes == 0 ? std::to_string(n) : w.splat(std::to_string(n), scalar, lanes);
}

struct Bits {
  LlvmWriter& w;
  std::string_view scalar;
  int lanes;
  std::string type = LlvmWriter::vector_of(scalar, lanes);
  std::string truth = LlvmWriter::vector_of("i1", lanes);

  std::string op(std::string_view word, std::string_view a, std::string_view b) const {
    return w.set("{} {} {}, {}", word, type, a, b);
  }
  std::string op(std::string_view word, std::string_view a, std::int64_t b) const {
    return op(word, a, number_of(w, scalar, lanes, b));
  }
  std::string is(std::string_view word, std::string_view a, std::int64_t b) const {
    return w.set("icmp {} {} {}, {}", word, type, a, number_of(w, scalar, lanes, b));
  }
  std::string choose(std::string_view condition, std::string_view yes, std::string_view no) const {
    return w.set("select {0} {1}, {2} {3}, {2} {4}", truth, condition, type, yes, no);
  }
};

// Round to nearest even on the bits; a NaN keeps its sign. The machine's own instruction would
// take subnormal numbers for zero.
LlvmValue rounded_to_bf16(LlvmWriter& w, const LlvmValue& x) {
  const Bits i{w, "i32", x.lanes};
  const std::string bits = cast(w, "bitcast", x, "i32");
  const std::string last = i.op("and", i.op("lshr", bits, 16), 1);
  const std::string carried = i.op("add", bits, i.op("add", last, 0x7fff));
  const std::string quiet = i.op("or", bits, 0x7fc00000);
  const std::string nan = w.set("fcmp uno {} {}, {}", LlvmWriter::type_of(x), x.text, x.text);
  const std::string kept = i.op("and", i.choose(nan, quiet, carried), -65536);
  return value(w.set("bitcast {} {} to {}", i.type, kept, LlvmWriter::type_of(x)), DType::bf16,
               x.lanes);
}

// A double as a float whose last bit remembers that something was cut off, so that rounding it
// again does no harm.
LlvmValue float_to_odd(LlvmWriter& w, const LlvmValue& x) {
  const Bits i{w, "i32", x.lanes};
  const std::string wide = LlvmWriter::type_of(x);
  const LlvmValue near = value(cast(w, "fptrunc", x, "float"), DType::f32, x.lanes);
  const std::string back = cast(w, "fpext", near, "double");
  const std::string bits = cast(w, "bitcast", near, "i32");
  auto size = [&](std::string_view of) {
    return w.call(wide, "llvm.fabs." + LlvmWriter::suffix("double", x.lanes),
                  fmt::format("{} {}", wide, of));
  };
  const std::string above = w.set("fcmp ogt {} {}, {}", wide, size(back), size(x.text));
  const std::string inexact = w.set("fcmp one {} {}, {}", wide, back, x.text);
  const std::string below = i.choose(above, i.op("sub", bits, 1), bits);
  const std::string odd = i.choose(inexact, i.op("or", below, 1), bits);
  return value(w.set("bitcast {} {} to {}", i.type, odd, LlvmWriter::vector_of("float", x.lanes)),
               DType::f32, x.lanes);
}

// Above 2^53 the last bits become one that says whether there were any.
LlvmValue wide_integer_to_double(LlvmWriter& w, const LlvmValue& x) {
  const Bits i{w, "i64", x.lanes};
  const bool has_sign = is_signed_integer(x.type);
  std::string size = x.text;
  if (has_sign)
    size = w.call(i.type, "llvm.abs." + LlvmWriter::suffix("i64", x.lanes),
                  fmt::format("{} {}, i1 false", i.type, x.text));
  const std::string rest = i.is("ne", i.op("and", size, 0x7ff), 0);
  const std::string sticky =
      i.choose(rest, number_of(w, "i64", x.lanes, 0x800), number_of(w, "i64", x.lanes, 0));
  const std::string cut = i.op("or", i.op("and", size, ~std::int64_t{0x7ff}), sticky);
  const std::string large = i.is("ne", i.op("lshr", size, 53), 0);
  const std::string real = w.set("uitofp {} {} to {}", i.type, i.choose(large, cut, size),
                                 LlvmWriter::vector_of("double", x.lanes));
  if (!has_sign) return value(real, DType::f64, x.lanes);
  const std::string type = LlvmWriter::vector_of("double", x.lanes);
  const std::string minus = w.set("fneg {} {}", type, real);
  return value(
      w.set("select {0} {1}, {2} {3}, {2} {4}", i.truth, i.is("slt", x.text, 0), type, minus, real),
      DType::f64, x.lanes);
}

LlvmValue float_to_float(LlvmWriter& w, DType to, const LlvmValue& x) {
  const bool from_wide = x.type == DType::f64;
  if (to == DType::f64) return value(cast(w, "fpext", x, "double"), to, x.lanes);
  if (to == DType::f32)
    return value(from_wide ? cast(w, "fptrunc", x, "float") : x.text, to, x.lanes);
  LlvmValue result = from_wide ? float_to_odd(w, x) : x;
  result.type = to;
  return rounded(w, result);
}

LlvmValue integer_to_float(LlvmWriter& w, DType to, const LlvmValue& x) {
  const std::string_view word = is_signed_integer(x.type) ? "sitofp" : "uitofp";
  if (to == DType::f64 || to == DType::f32)
    return value(cast(w, word, x, LlvmWriter::scalar_type(to)), to, x.lanes);
  const bool exact = x.type == DType::i1 || byte_size(x.type) <= 2;
  if (exact) return rounded(w, value(cast(w, word, x, "float"), to, x.lanes));
  const bool long_integer = byte_size(x.type) == 8 && !x.narrow;
  return float_to_float(w, to,
                        long_integer ? wide_integer_to_double(w, x)
                                     : value(cast(w, word, x, "double"), DType::f64, x.lanes));
}

// Towards zero; what does not fit becomes the nearest that does, and NaN becomes 0. LLVM's own
// instruction for it would go through the lanes one by one.
LlvmValue float_to_integer(LlvmWriter& w, DType to, const LlvmValue& x) {
  const bool has_sign = is_signed_integer(to);
  const int digits = 8 * byte_size(to) - (has_sign ? 1 : 0);
  const int exact = x.type == DType::f64 ? 53 : 24;
  const double above = std::ldexp(1.0, digits);
  // The largest float below 2^digits, or the largest integer where that is a float.
  const double most = above - std::ldexp(1.0, std::max(0, digits - exact));
  const std::string_view float_type = LlvmWriter::scalar_type(x.type);
  const std::string type = LlvmWriter::type_of(x), truth = LlvmWriter::vector_of("i1", x.lanes);
  auto real = [&](double value) {
    const std::string hex = fmt::format("0x{:016X}", std::bit_cast<std::uint64_t>(value));
    return x.lanes == 0 ? hex : w.splat(hex, float_type, x.lanes);
  };
  auto choose = [&](std::string_view of, std::string_view condition, std::string_view yes,
                    std::string_view no) {
    return w.set("select {0} {1}, {2} {3}, {2} {4}", truth, condition, of, yes, no);
  };
  auto is = [&](std::string_view word, std::string_view a, std::string_view b) {
    return w.set("fcmp {} {} {}, {}", word, type, a, b);
  };
  const std::string high = real(most), low = real(has_sign ? -above : 0.0);
  const std::string number = choose(type, is("ord", x.text, x.text), x.text, real(0));
  const std::string below = choose(type, is("olt", number, high), number, high);
  const std::string inside = choose(type, is("ogt", below, low), below, low);
  // Short integers by way of i32, as the machine has it.
  const bool is_short = byte_size(to) < 4;
  const std::string_view whole = is_short ? "i32" : LlvmWriter::scalar_type(to);
  std::string result = w.set("{} {} {} to {}", has_sign || is_short ? "fptosi" : "fptoui", type,
                             inside, LlvmWriter::vector_of(whole, x.lanes));
  if (is_short)
    result = w.set("trunc {} {} to {}", LlvmWriter::vector_of(whole, x.lanes), result,
                   LlvmWriter::vector_of(LlvmWriter::scalar_type(to), x.lanes));
  if (digits > exact) {
    const std::int64_t largest =
        has_sign ? static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - digits)) : -1;
    result = choose(LlvmWriter::vector_of(whole, x.lanes), is("oge", number, real(above)),
                    number_of(w, whole, x.lanes, largest), result);
  }
  return value(result, to, x.lanes);
}

LlvmValue integer_to_integer(LlvmWriter& w, DType to, const LlvmValue& x) {
  const int from_size = x.type == DType::i1 ? 0 : x.narrow ? 4 : byte_size(x.type);
  const int to_size = byte_size(to);
  if (from_size == to_size) return value(x.text, to, x.lanes);
  const std::string_view word = from_size > to_size         ? "trunc"
                                : is_signed_integer(x.type) ? "sext"
                                                            : "zext";
  return value(cast(w, word, x, LlvmWriter::scalar_type(to)), to, x.lanes);
}

LlvmValue to_truth(LlvmWriter& w, const LlvmValue& x) {
  const bool real = is_float(x.type);
  const std::string_view scalar = LlvmWriter::scalar_type(x.type, x.narrow);
  const std::string_view none = real ? "0x0000000000000000" : "0";
  return value(w.set("{} {} {}, {}", real ? "fcmp une" : "icmp ne", LlvmWriter::type_of(x), x.text,
                     x.lanes == 0 ? std::string(none) : w.splat(none, scalar, x.lanes)),
               DType::i1, x.lanes);
}

}  // namespace

LlvmValue rounded(LlvmWriter& w, LlvmValue x) {
  if (x.type == DType::bf16) return rounded_to_bf16(w, x);
  if (x.type != DType::f16) return x;
  const std::string half = w.set("fptrunc {} {} to {}", LlvmWriter::type_of(x), x.text,
                                 LlvmWriter::vector_of("half", x.lanes));
  x.text = w.set("fpext {} {} to {}", LlvmWriter::vector_of("half", x.lanes), half,
                 LlvmWriter::type_of(x));
  return x;
}

LlvmValue emit_convert(LlvmWriter& w, DType to, const LlvmValue& x) {
  if (x.type == to) return x;
  if (to == DType::i1) return to_truth(w, x);
  if (is_float(x.type)) return is_float(to) ? float_to_float(w, to, x) : float_to_integer(w, to, x);
  return is_float(to) ? integer_to_float(w, to, x) : integer_to_integer(w, to, x);
}

LlvmValue emit_bitcast(LlvmWriter& w, DType to, const LlvmValue& x) {
  if (x.type == to) return x;
  if (!is_float(x.type) && !is_float(to)) return value(w.wide(x).text, to, x.lanes);
  const std::string memory = to_memory(w, w.wide(x));
  const std::string_view from_type = LlvmWriter::memory_type(x.type);
  const std::string_view to_type = LlvmWriter::memory_type(to);
  if (from_type == to_type) return from_memory(w, memory, to, x.lanes);
  return from_memory(w,
                     w.set("bitcast {} {} to {}", LlvmWriter::vector_of(from_type, x.lanes), memory,
                           LlvmWriter::vector_of(to_type, x.lanes)),
                     to, x.lanes);
}

LlvmValue from_memory(LlvmWriter& w, std::string_view loaded, DType type, int lanes) {
  if (type == DType::i1)
    return value(w.set("icmp ne {} {}, {}", LlvmWriter::vector_of("i8", lanes), loaded,
                       number_of(w, "i8", lanes, 0)),
                 type, lanes);
  if (type == DType::f16)
    return value(w.set("fpext {} {} to {}", LlvmWriter::vector_of("half", lanes), loaded,
                       LlvmWriter::vector_of("float", lanes)),
                 type, lanes);
  if (type != DType::bf16) return value(std::string(loaded), type, lanes);
  const Bits i{w, "i32", lanes};
  const std::string bits =
      w.set("zext {} {} to {}", LlvmWriter::vector_of("i16", lanes), loaded, i.type);
  return value(w.set("bitcast {} {} to {}", i.type, i.op("shl", bits, 16),
                     LlvmWriter::vector_of("float", lanes)),
               type, lanes);
}

std::string to_memory(LlvmWriter& w, const LlvmValue& x) {
  if (x.type == DType::i1) return cast(w, "zext", x, "i8");
  if (x.type == DType::f16) return cast(w, "fptrunc", x, "half");
  if (x.type == DType::i64) return w.wide(x).text;
  if (x.type != DType::bf16) return x.text;
  const Bits i{w, "i32", x.lanes};
  const std::string top = i.op("lshr", cast(w, "bitcast", x, "i32"), 16);
  return w.set("trunc {} {} to {}", i.type, top, LlvmWriter::vector_of("i16", x.lanes));
}

}  // namespace heddle
