// Operations on integers. All of them wrap.
#include "kernel/emit_llvm_ops.h"

namespace heddle {

namespace {

using Values = std::span<const LlvmValue>;

// One operation's surroundings: its type, and constants of that type.
struct Integer {
  LlvmWriter& w;
  const LlvmValue& model;
  std::string type, truth;
  int width;

  Integer(LlvmWriter& writer, const LlvmValue& x)
      : w(writer),
        model(x),
        type(LlvmWriter::type_of(x)),
        truth(LlvmWriter::vector_of("i1", x.lanes)),
        width(x.narrow ? 32 : 8 * byte_size(x.type)) {}

  std::string constant(std::int64_t value) const {
    const std::string_view scalar = LlvmWriter::scalar_type(model.type, model.narrow);
    return model.lanes == 0 ? std::to_string(value)
                            : w.splat(std::to_string(value), scalar, model.lanes);
  }
  LlvmValue result(const std::string& text) const {
    LlvmValue value = model;
    value.text = text;
    return value;
  }
  std::string binary(std::string_view word, std::string_view a, std::string_view b) const {
    return w.set("{} {} {}, {}", word, type, a, b);
  }
  std::string compare(std::string_view word, std::string_view a, std::string_view b) const {
    return w.set("icmp {} {} {}, {}", word, type, a, b);
  }
  std::string select(std::string_view condition, std::string_view yes, std::string_view no) const {
    return w.set("select {0} {1}, {2} {3}, {2} {4}", truth, condition, type, yes, no);
  }
  std::string intrinsic(std::string_view name, Values in, std::string_view more = "") const {
    std::string arguments;
    for (const LlvmValue& x : in)
      arguments += (arguments.empty() ? "" : ", ") + type + " " + x.text;
    const std::string_view scalar = LlvmWriter::scalar_type(model.type, model.narrow);
    return w.call(type, fmt::format("llvm.{}.{}", name, LlvmWriter::suffix(scalar, model.lanes)),
                  arguments + std::string(more));
  }
};

bool is_constant(const LlvmValue& x) { return x.text[0] != '%' && x.text[0] != '<'; }

// Vectors are divided as floats, for which there are instructions, where that is exact: integers of
// up to 16 bits by f32, of 32 by f64; those of 64 in two steps (below).
bool divides_by_floats(const LlvmWriter& w, const Integer& i) {
  if (i.model.lanes == 0) return false;
  constexpr int kLongestVectors = 64;  // with which conversions of 64 bits come
  return i.width < 64 ||
         (is_signed_integer(i.model.type) && w.target.family == VectorTarget::Family::x86 &&
          w.target.vector_bytes >= kLongestVectors);
}

// Both results, of a divisor that is not 0 and a quotient that does not overflow.
struct Divided {
  std::string quotient, rest;
};

Divided divided_by_floats(LlvmWriter& w, const Integer& i, const std::string& x,
                          const std::string& y) {
  const bool has_sign = is_signed_integer(i.model.type);
  const DType held = i.width <= 16 ? DType::f32 : DType::f64;
  const std::string floats = LlvmWriter::vector_of(LlvmWriter::scalar_type(held), i.model.lanes);
  const auto as_float = [&](const std::string& of) {
    return w.set("{} {} {} to {}", has_sign ? "sitofp" : "uitofp", i.type, of, floats);
  };
  const auto whole = [&](const std::string& of) {
    return w.set("{} {} {} to {}", has_sign ? "fptosi" : "fptoui", floats, of, i.type);
  };
  const auto left = [&](const std::string& of, const std::string& quotient) {
    return i.binary("sub", of, i.binary("mul", quotient, y));
  };
  if (i.width < 64) {
    const std::string quotient = whole(w.set("fdiv {} {}, {}", floats, as_float(x), as_float(y)));
    return {quotient, left(x, quotient)};
  }
  // A reciprocal that is a little too small, so that no step goes too far. The second one leaves
  // one at most.
  const auto number = [&](std::string_view text) {
    return w.splat(std::string(text), LlvmWriter::scalar_type(held), i.model.lanes);
  };
  constexpr std::string_view kOne = "0x3FF0000000000000", kLess = "0x3FEFFFFFFFFFFFF8";
  const std::string exact = w.set("fdiv {} {}, {}", floats, number(kOne), as_float(y));
  const std::string inverse = w.set("fmul {} {}, {}", floats, exact, number(kLess));
  const auto step = [&](const std::string& of) {
    return whole(w.set("fmul {} {}, {}", floats, as_float(of), inverse));
  };
  const std::string first = step(x), rest = left(x, first), second = step(rest);
  const std::string nearly = i.binary("add", first, second), last = left(rest, second);
  const auto size = [&](const std::string& of) {
    return i.intrinsic("abs", std::array{i.result(of)}, ", i1 false");
  };
  const std::string is_short = i.compare("uge", size(last), size(y));
  const std::string has_minus = i.compare("slt", i.binary("xor", x, y), i.constant(0));
  const std::string one = i.select(has_minus, i.constant(-1), i.constant(1));
  const std::string more = i.select(is_short, one, i.constant(0));
  return {i.binary("add", nearly, more), i.binary("sub", last, i.binary("mul", more, y))};
}

// Over zero the quotient is all ones and the rest the dividend; the smallest integer over -1 is
// itself. The machine would stop at both, so it divides by 1 there. Zeros go by a maximum: LLVM 19
// takes a choice lane by lane among constants, one of them zero, for a division that never is.
LlvmValue divide(LlvmWriter& w, ScalarOp op, Values in) {
  const Integer i(w, in[0]);
  const bool quotient = op == ScalarOp::divide, has_sign = is_signed_integer(in[0].type);
  const std::string_view word =
      quotient ? (has_sign ? "sdiv" : "udiv") : (has_sign ? "srem" : "urem");
  const std::string &x = in[0].text, &y = in[1].text;
  const std::string zero = i.constant(0), one = i.constant(1), minus = i.constant(-1);
  if (is_constant(in[1]) && y != zero && y != minus) return i.result(i.binary(word, x, y));
  const std::string by_zero = i.compare("eq", y, zero);
  std::string divisor = i.intrinsic("umax", std::array{in[1], i.result(one)});
  if (has_sign) {
    const std::string least = i.constant(std::int64_t{-1} << (i.width - 1));
    const std::string overflow =
        w.set("and {} {}, {}", i.truth, i.compare("eq", x, least), i.compare("eq", y, minus));
    divisor = i.select(overflow, one, divisor);
  }
  std::string result;
  if (divides_by_floats(w, i)) {
    const Divided made = divided_by_floats(w, i, x, divisor);
    result = quotient ? made.quotient : made.rest;
  } else {
    result = i.binary(word, x, divisor);
  }
  return i.result(i.select(by_zero, quotient ? minus : x, result));
}

// Amounts count as unsigned; from the width on every bit has been shifted out.
LlvmValue shift(LlvmWriter& w, ScalarOp op, Values in) {
  const Integer i(w, in[0]);
  const std::string &x = in[0].text, &amount = in[1].text;
  if (op == ScalarOp::shift_right_arithmetic) {
    const LlvmValue most = i.result(i.constant(i.width - 1));
    return i.result(i.binary("ashr", x, i.intrinsic("umin", std::array{in[1], most})));
  }
  const std::string inside = i.compare("ult", amount, i.constant(i.width));
  const std::string zero = i.constant(0);
  const std::string safe = i.select(inside, amount, zero);
  const std::string moved = i.binary(op == ScalarOp::shift_left ? "shl" : "lshr", x, safe);
  return i.result(i.select(inside, moved, zero));
}

// By squaring, while any lane has bits left. A negative exponent gives 0 unless the base is 1 or
// -1.
LlvmValue power(LlvmWriter& w, Values in) {
  const Integer i(w, in[0]);
  const bool has_sign = is_signed_integer(in[0].type);
  const std::string zero = i.constant(0), one = i.constant(1);
  const std::string result = w.stack(i.type), square = w.stack(i.type), left = w.stack(i.type);
  std::string exponent = in[1].text, vanishes;
  if (has_sign) {
    const std::string negative = i.compare("slt", in[1].text, zero);
    exponent = i.select(negative, i.binary("sub", zero, in[1].text), in[1].text);
    const std::string unit = w.set("or {} {}, {}", i.truth, i.compare("eq", in[0].text, one),
                                   i.compare("eq", in[0].text, i.constant(-1)));
    vanishes = i.select(unit, zero, i.select(negative, one, zero));
  }
  w.put("store {} {}, ptr {}", i.type, one, result);
  w.put("store {} {}, ptr {}", i.type, in[0].text, square);
  w.put("store {} {}, ptr {}", i.type, exponent, left);
  const std::string head = w.label(), body = w.label(), after = w.label();
  w.branch(head);
  w.place(head);
  const std::string bits = w.set("load {}, ptr {}", i.type, left);
  const std::string any =
      in[0].lanes == 0 ? bits : emit_reduce(w, ScalarOp::bit_or, i.result(bits)).text;
  const std::string_view scalar = LlvmWriter::scalar_type(in[0].type, in[0].narrow);
  w.branch(w.set("icmp ne {} {}, 0", scalar, any), body, after);
  w.place(body);
  const std::string factor = w.set("load {}, ptr {}", i.type, square);
  const std::string so_far = w.set("load {}, ptr {}", i.type, result);
  const std::string odd = i.compare("ne", i.binary("and", bits, one), zero);
  w.put("store {} {}, ptr {}", i.type, i.select(odd, i.binary("mul", so_far, factor), so_far),
        result);
  w.put("store {} {}, ptr {}", i.type, i.binary("mul", factor, factor), square);
  w.put("store {} {}, ptr {}", i.type, i.binary("lshr", bits, one), left);
  w.branch(head);
  w.place(after);
  const std::string whole = w.set("load {}, ptr {}", i.type, result);
  if (!has_sign) return i.result(whole);
  return i.result(i.select(i.compare("ne", vanishes, zero), zero, whole));
}

LlvmValue sign(LlvmWriter& w, Values in) {
  const Integer i(w, in[0]);
  const LlvmValue one = i.result(i.constant(1)), minus = i.result(i.constant(-1));
  if (!is_signed_integer(in[0].type)) return i.result(i.intrinsic("umin", std::array{in[0], one}));
  const LlvmValue below = i.result(i.intrinsic("smin", std::array{in[0], one}));
  return i.result(i.intrinsic("smax", std::array{below, minus}));
}

}  // namespace

LlvmValue emit_integer_op(LlvmWriter& w, ScalarOp op, Values in) {
  const Integer i(w, in[0]);
  const bool has_sign = is_signed_integer(in[0].type);
  auto binary = [&](std::string_view word) {
    return i.result(i.binary(word, in[0].text, in[1].text));
  };
  switch (op) {
    case ScalarOp::abs:
      return has_sign ? i.result(i.intrinsic("abs", in, ", i1 false")) : in[0];
    case ScalarOp::negate:
      return i.result(i.binary("sub", i.constant(0), in[0].text));
    case ScalarOp::sign:
      return sign(w, in);
    case ScalarOp::logical_not:
      return i.result(i.binary("xor", in[0].text, i.constant(-1)));
    case ScalarOp::popcnt:
      return i.result(i.intrinsic("ctpop", in));
    case ScalarOp::count_leading_zeros:
      return i.result(i.intrinsic("ctlz", in, ", i1 false"));
    case ScalarOp::add:
      return binary("add");
    case ScalarOp::subtract:
      return binary("sub");
    case ScalarOp::multiply:
      return binary("mul");
    case ScalarOp::divide:
    case ScalarOp::remainder:
      return divide(w, op, in);
    case ScalarOp::minimum:
      return i.result(i.intrinsic(has_sign ? "smin" : "umin", in));
    case ScalarOp::maximum:
      return i.result(i.intrinsic(has_sign ? "smax" : "umax", in));
    case ScalarOp::power:
      return power(w, in);
    case ScalarOp::bit_and:
      return binary("and");
    case ScalarOp::bit_or:
      return binary("or");
    case ScalarOp::bit_xor:
      return binary("xor");
    case ScalarOp::shift_left:
    case ScalarOp::shift_right_arithmetic:
    case ScalarOp::shift_right_logical:
      return shift(w, op, in);
    default:
      break;
  }
  throw InternalError("an operation on integers", name(op));
}

}  // namespace heddle
