// Functions of mathematics: SLEEF's, at most 1 ulp off, as wide as the target has them.
#include "kernel/emit_llvm_floats.h"
#include "kernel/emit_llvm_guard.h"
#include "kernel/emit_llvm_inline.h"
#include "kernel/emit_llvm_ops.h"

namespace heddle {

namespace {

using Values = std::span<const LlvmValue>;

// The function as SLEEF names it.
std::string_view sleef_name(ScalarOp op) {
  switch (op) {
    case ScalarOp::cbrt:
      return "cbrt";
    case ScalarOp::exp:
      return "exp";
    case ScalarOp::expm1:
      return "expm1";
    case ScalarOp::log:
      return "log";
    case ScalarOp::log1p:
      return "log1p";
    case ScalarOp::sin:
      return "sin";
    case ScalarOp::cos:
      return "cos";
    case ScalarOp::tan:
      return "tan";
    case ScalarOp::tanh:
      return "tanh";
    case ScalarOp::erf:
      return "erf";
    case ScalarOp::power:
      return "pow";
    case ScalarOp::atan2:
      return "atan2";
    default:
      break;
  }
  throw InternalError("a function of mathematics", name(op));
}

std::string call(LlvmWriter& w, std::string_view function, std::string_view type,
                 std::span<const std::string> in) {
  std::string arguments;
  for (const std::string& x : in)
    arguments += fmt::format("{}{} {}", arguments.empty() ? "" : ", ", type, x);
  return w.call(type, function, arguments);
}

// Lanes of one call, most first; the target's own vectors and shorter ones.
int lanes_of_call(const VectorTarget& target, int lanes, int size) {
  int most = std::max(16, target.vector_bytes) / size;
  while (most * size > 16 && most / 2 >= lanes) most /= 2;
  return most;
}

std::string vector_function(const VectorTarget& target, std::string_view function, bool wide,
                            int lanes) {
  const int bytes = lanes * (wide ? 8 : 4);
  std::string_view unit = "advsimd";
  if (target.family == VectorTarget::Family::x86)
    unit = bytes == 64                ? "avx512f"
           : bytes == 32              ? "avx2"
           : target.vector_bytes > 16 ? "avx2128"
                                      : "sse4";
  return fmt::format("Sleef_{}{}{}_u10{}", function, wide ? "d" : "f", lanes, unit);
}

// One call per lane of a function that takes scalars.
std::string lane_by_lane(LlvmWriter& w, std::string_view function, Values in) {
  const std::string_view scalar = LlvmWriter::scalar_type(in[0].type);
  const std::string type = LlvmWriter::type_of(in[0]);
  std::string result = "poison";
  for (int lane = 0; lane < in[0].lanes; ++lane) {
    std::vector<std::string> elements;
    for (const LlvmValue& x : in)
      elements.push_back(w.set("extractelement {} {}, i64 {}", type, x.text, lane));
    result = w.set("insertelement {} {}, {} {}, i64 {}", type, result, scalar,
                   call(w, function, scalar, elements), lane);
  }
  return result;
}

std::string library_value(LlvmWriter& w, ScalarOp op, Values in) {
  const bool wide = in[0].type == DType::f64,
             plain = w.target.family == VectorTarget::Family::generic;
  const std::string_view scalar = LlvmWriter::scalar_type(in[0].type), name = sleef_name(op);
  const std::string one = plain ? fmt::format("{}{}", name, wide ? "" : "f")
                                : fmt::format("Sleef_{}{}_u10", name, wide ? "" : "f");
  const int lanes = in[0].lanes;
  std::vector<std::string> texts;
  if (lanes == 0) {
    for (const LlvmValue& x : in) texts.push_back(x.text);
    return call(w, one, scalar, texts);
  }
  if (plain) return lane_by_lane(w, one, in);
  const int each = lanes_of_call(w.target, lanes, wide ? 8 : 4);
  const std::string function = vector_function(w.target, name, wide, each);
  std::vector<std::string> parts;
  for (int first = 0; first < lanes; first += each) {
    texts.clear();
    for (const LlvmValue& x : in) texts.push_back(w.part(scalar, lanes, x.text, first, each));
    parts.push_back(call(w, function, LlvmWriter::vector_of(scalar, each), texts));
  }
  return w.joined(std::move(parts), scalar, each, lanes);
}

std::string function_value(LlvmWriter& w, ScalarOp op, Values in) {
  if (has_inline_form(w, op, in[0])) return emit_inline(w, op, in[0]);
  return guarded(w, op, in, [&](Values safe) { return library_value(w, op, safe); });
}

LlvmValue with_text(const LlvmValue& model, const std::string& text) {
  LlvmValue value = model;
  value.text = text;
  return value;
}

// 1 / (1 + e^-x), or below 0 the same as e^x / (1 + e^x): no step overflows, so that even results
// next to 0 are right. Where 1 + e is 1 the result is e or 1, and e may be a subnormal number.
std::string logistic(LlvmWriter& w, const LlvmValue& x) {
  const Floats f{w, x.lanes, x.type == DType::f64};
  const LlvmValue minus = with_text(x, w.set("fneg {} {}", f.type, f.abs(x.text)));
  const std::string e = has_inline_form(w, ScalarOp::exp, x)
                            ? emit_exp(w, minus, Sign::not_positive)
                            : function_value(w, ScalarOp::exp, std::array{minus});
  // Unsigned, so that a NaN is not below, whatever its sign.
  const std::string tail =
      f.compare("ult", f.as_bits(e), f.integer(f.bits_of_number(f.of_width(0x1p-25, 0x1p-54))));
  const std::string held = f.pick(tail, f.number(0), e);
  const std::string negative = f.compare("slt", f.as_bits(x.text), f.integer(0));
  const std::string over = f.pick(negative, held, f.number(1));
  const std::string under = w.set("fadd {}{} {}, {}", float_flags(w), f.type, f.number(1), held);
  const std::string there = w.set("fdiv {}{} {}, {}", float_flags(w), f.type, over, under);
  return f.pick(w.set("and {} {}, {}", f.truth, tail, negative), e, there);
}

LlvmValue emit_unrounded(LlvmWriter& w, ScalarOp op, Values in) {
  const LlvmValue& x = in[0];
  const std::string type = LlvmWriter::type_of(x), one = "0x3FF0000000000000";
  const std::string ones =
      x.lanes == 0 ? one : w.splat(one, LlvmWriter::scalar_type(x.type), x.lanes);
  auto inverse = [&](std::string_view of) {
    return w.set("fdiv {}{} {}, {}", float_flags(w), type, ones, of);
  };
  const auto root = [&](Values safe) {
    const std::string suffix = LlvmWriter::suffix(LlvmWriter::scalar_type(x.type), x.lanes);
    return w.call(type, "llvm.sqrt." + suffix, type + " " + safe[0].text,
                  op == ScalarOp::rsqrt ? float_flags(w) : "");
  };
  switch (op) {
    case ScalarOp::sqrt:
      return with_text(x, guarded(w, op, in, root));
    case ScalarOp::rsqrt:
      return with_text(x, guarded(w, op, in, [&](Values safe) { return inverse(root(safe)); }));
    case ScalarOp::logistic:
      return with_text(x, logistic(w, x));
    case ScalarOp::remainder:  // exact, by the C library
      return with_text(x, w.set("frem {} {}, {}", type, x.text, in[1].text));
    default:
      return with_text(x, function_value(w, op, in));
  }
}

}  // namespace

LlvmValue emit_maths(LlvmWriter& w, ScalarOp op, Values in) {
  return rounded(w, emit_unrounded(w, op, in));
}

}  // namespace heddle
