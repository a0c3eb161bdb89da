#include "kernel/emit_llvm_ops.h"

namespace heddle {

bool is_signed_integer(DType type) {
  return type == DType::i8 || type == DType::i16 || type == DType::i32 || type == DType::i64;
}

std::string_view float_flags(const LlvmWriter& writer) {
  return writer.target.fast_math ? "reassoc nsz arcp contract afn " : "";
}

namespace {

using Values = std::span<const LlvmValue>;

std::string arguments(Values in) {
  std::string text;
  for (const LlvmValue& x : in)
    text += (text.empty() ? "" : ", ") + LlvmWriter::type_of(x) + " " + x.text;
  return text;
}

std::string suffix_of(const LlvmValue& x) {
  return LlvmWriter::suffix(LlvmWriter::scalar_type(x.type, x.narrow), x.lanes);
}

LlvmValue intrinsic(LlvmWriter& w, std::string_view name, Values in) {
  const std::string_view flags = is_float(in[0].type) ? float_flags(w) : "";
  return like(in[0],
              w.call(LlvmWriter::type_of(in[0]), fmt::format("llvm.{}.{}", name, suffix_of(in[0])),
                     arguments(in), flags));
}

std::string real_constant(LlvmWriter& w, const LlvmValue& model, std::string_view hex) {
  if (model.lanes == 0) return std::string(hex);
  return w.splat(hex, LlvmWriter::scalar_type(model.type), model.lanes);
}

constexpr std::string_view kOne = "0x3FF0000000000000", kHalf = "0x3FE0000000000000",
                           kZero = "0x0000000000000000", kInfinity = "0x7FF0000000000000";

LlvmValue float_binary(LlvmWriter& w, std::string_view instruction, Values in) {
  return rounded(w, like(in[0], w.set("{} {}{} {}, {}", instruction, float_flags(w),
                                      LlvmWriter::type_of(in[0]), in[0].text, in[1].text)));
}

// NaN and zeros are kept, sign included.
LlvmValue float_sign(LlvmWriter& w, const LlvmValue& x) {
  const std::string type = LlvmWriter::type_of(x);
  const LlvmValue one = like(x, real_constant(w, x, kOne));
  const LlvmValue unit = intrinsic(w, "copysign", std::array{one, x});
  const std::string kept = w.set("fcmp ueq {} {}, {}", type, x.text, real_constant(w, x, kZero));
  return like(x, w.set("select {0} {1}, {2} {3}, {2} {4}", LlvmWriter::vector_of("i1", x.lanes),
                       kept, type, x.text, unit.text));
}

// To nearest, halves away from zero: what is cut off decides, and that is exact.
LlvmValue round_away(LlvmWriter& w, const LlvmValue& x) {
  const std::string type = LlvmWriter::type_of(x);
  const LlvmValue whole = intrinsic(w, "trunc", std::array{x});
  const LlvmValue rest = like(x, w.set("fsub {} {}, {}", type, x.text, whole.text));
  const LlvmValue far = intrinsic(w, "fabs", std::array{rest});
  const std::string up = w.set("fcmp oge {} {}, {}", type, far.text, real_constant(w, x, kHalf));
  const LlvmValue step =
      like(x, w.set("select {0} {1}, {2} {3}, {2} {4}", LlvmWriter::vector_of("i1", x.lanes), up,
                    type, real_constant(w, x, kOne), real_constant(w, x, kZero)));
  const LlvmValue signed_step = intrinsic(w, "copysign", std::array{step, x});
  return like(x, w.set("fadd {} {}, {}", type, whole.text, signed_step.text));
}

LlvmValue is_finite(LlvmWriter& w, const LlvmValue& x) {
  const LlvmValue size = intrinsic(w, "fabs", std::array{x});
  return {w.set("fcmp olt {} {}, {}", LlvmWriter::type_of(x), size.text,
                real_constant(w, x, kInfinity)),
          DType::i1, x.lanes, false};
}

LlvmValue emit_float_op(LlvmWriter& w, ScalarOp op, Values in) {
  switch (op) {
    case ScalarOp::abs:
      return intrinsic(w, "fabs", in);
    case ScalarOp::negate:
      return like(in[0], w.set("fneg {} {}", LlvmWriter::type_of(in[0]), in[0].text));
    case ScalarOp::sign:
      return float_sign(w, in[0]);
    case ScalarOp::is_finite:
      return is_finite(w, in[0]);
    case ScalarOp::floor:
      return intrinsic(w, "floor", in);
    case ScalarOp::ceil:
      return intrinsic(w, "ceil", in);
    case ScalarOp::round_even:
      return intrinsic(w, "roundeven", in);
    case ScalarOp::round_away:
      return round_away(w, in[0]);
    case ScalarOp::add:
      return float_binary(w, "fadd", in);
    case ScalarOp::subtract:
      return float_binary(w, "fsub", in);
    case ScalarOp::multiply:
      return float_binary(w, "fmul", in);
    case ScalarOp::divide:
      return float_binary(w, "fdiv", in);
    case ScalarOp::minimum:
    case ScalarOp::maximum:
      return emit_extremum(w, op, in);
    default:
      return emit_maths(w, op, in);
  }
}

LlvmValue emit_truth_op(LlvmWriter& w, ScalarOp op, Values in) {
  const std::string type = LlvmWriter::type_of(in[0]);
  auto binary = [&](std::string_view instruction) {
    return like(in[0], w.set("{} {} {}, {}", instruction, type, in[0].text, in[1].text));
  };
  switch (op) {
    case ScalarOp::logical_not:
      return like(in[0], w.set("xor {} {}, {}", type, in[0].text,
                               in[0].lanes == 0 ? "true" : w.splat("true", "i1", in[0].lanes)));
    case ScalarOp::add:
    case ScalarOp::maximum:
    case ScalarOp::bit_or:
      return binary("or");
    case ScalarOp::multiply:
    case ScalarOp::minimum:
    case ScalarOp::bit_and:
      return binary("and");
    case ScalarOp::bit_xor:
      return binary("xor");
    default:
      break;
  }
  throw InternalError("an operation on truth values", name(op));
}

LlvmValue compare(LlvmWriter& w, ScalarOp op, Values in) {
  const auto which = static_cast<std::size_t>(op) - static_cast<std::size_t>(ScalarOp::equal);
  constexpr std::string_view floats[] = {"oeq", "une", "olt", "ole", "ogt", "oge"};
  constexpr std::string_view signeds[] = {"eq", "ne", "slt", "sle", "sgt", "sge"};
  constexpr std::string_view unsigneds[] = {"eq", "ne", "ult", "ule", "ugt", "uge"};
  const bool real = is_float(in[0].type);
  const auto word =
      real ? floats[which] : (is_signed_integer(in[0].type) ? signeds : unsigneds)[which];
  return {w.set("{} {} {} {}, {}", real ? "fcmp" : "icmp", word, LlvmWriter::type_of(in[0]),
                in[0].text, in[1].text),
          DType::i1, in[0].lanes, false};
}

LlvmValue select(LlvmWriter& w, Values in) {
  return like(in[1], w.set("select {0} {1}, {2} {3}, {2} {4}", LlvmWriter::type_of(in[0]),
                           in[0].text, LlvmWriter::type_of(in[1]), in[1].text, in[2].text));
}

}  // namespace

LlvmValue emit_op(LlvmWriter& w, ScalarOp op, DType result, Values in) {
  if (op == ScalarOp::convert) return emit_convert(w, result, in[0]);
  if (op == ScalarOp::bitcast) return emit_bitcast(w, result, in[0]);
  if (op == ScalarOp::select) return select(w, in);
  if (op == ScalarOp::clamp) {
    const LlvmValue raised = emit_op(w, ScalarOp::maximum, result, std::array{in[1], in[0]});
    return emit_op(w, ScalarOp::minimum, result, std::array{raised, in[2]});
  }
  if (op >= ScalarOp::equal && op <= ScalarOp::greater_equal) return compare(w, op, in);
  if (in[0].type == DType::i1) return emit_truth_op(w, op, in);
  return is_float(in[0].type) ? emit_float_op(w, op, in) : emit_integer_op(w, op, in);
}

LlvmValue emit_reduce(LlvmWriter& w, ScalarOp op, const LlvmValue& x) {
  const bool real = is_float(x.type), has_sign = is_signed_integer(x.type);
  const bool truth = x.type == DType::i1;
  if (real && (op == ScalarOp::minimum || op == ScalarOp::maximum))
    return emit_extremum_of_lanes(w, op, x);
  std::string_view word;
  std::string start;
  switch (op) {
    case ScalarOp::add:
      word = real ? "fadd" : truth ? "or" : "add";
      start = "0x8000000000000000";
      break;
    case ScalarOp::multiply:
      word = real ? "fmul" : truth ? "and" : "mul";
      start = kOne;
      break;
    case ScalarOp::minimum:
      word = truth ? "and" : has_sign ? "smin" : "umin";
      break;
    case ScalarOp::maximum:
      word = truth ? "or" : has_sign ? "smax" : "umax";
      break;
    case ScalarOp::bit_and:
      word = "and";
      break;
    case ScalarOp::bit_or:
      word = "or";
      break;
    default:
      word = "xor";
  }
  const std::string scalar(LlvmWriter::scalar_type(x.type, x.narrow));
  std::string in = LlvmWriter::type_of(x) + " " + x.text;
  // Lanes may be added in any order, so as a tree.
  const bool regroup = real && !start.empty();
  if (regroup) in = scalar + " " + start + ", " + in;
  LlvmValue result = x;
  result.lanes = 0;
  result.text = w.call(scalar, fmt::format("llvm.vector.reduce.{}.{}", word, suffix_of(x)), in,
                       regroup ? "reassoc " : "");
  return result;
}

}  // namespace heddle
