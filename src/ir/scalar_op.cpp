#include "heddle/scalar_op.h"

#include <cstddef>

namespace heddle {

namespace {

constexpr std::string_view kNames[] = {"none",
                                       "abs",
                                       "negate",
                                       "sign",
                                       "not",
                                       "is_finite",
                                       "popcnt",
                                       "clz",
                                       "floor",
                                       "ceil",
                                       "round_even",
                                       "round_away",
                                       "sqrt",
                                       "rsqrt",
                                       "cbrt",
                                       "exp",
                                       "expm1",
                                       "log",
                                       "log1p",
                                       "sin",
                                       "cos",
                                       "tan",
                                       "tanh",
                                       "logistic",
                                       "erf",
                                       "convert",
                                       "bitcast",
                                       "add",
                                       "subtract",
                                       "multiply",
                                       "divide",
                                       "remainder",
                                       "minimum",
                                       "maximum",
                                       "power",
                                       "atan2",
                                       "and",
                                       "or",
                                       "xor",
                                       "shift_left",
                                       "shift_right_arithmetic",
                                       "shift_right_logical",
                                       "equal",
                                       "not_equal",
                                       "less",
                                       "less_equal",
                                       "greater",
                                       "greater_equal",
                                       "select",
                                       "clamp"};

}  // namespace

std::string_view name(ScalarOp op) { return kNames[static_cast<std::size_t>(op)]; }

int operand_count(ScalarOp op) {
  if (op == ScalarOp::none) return 0;
  if (op < ScalarOp::add) return 1;
  return op < ScalarOp::select ? 2 : 3;
}

bool is_heavy(ScalarOp op) {
  return (op >= ScalarOp::rsqrt && op <= ScalarOp::erf) || op == ScalarOp::power ||
         op == ScalarOp::atan2 || op == ScalarOp::remainder;
}

}  // namespace heddle
