// ScalarOp: what an elementwise op computes at one element. The row of an op names its own; kernels
// are written in them.
#pragma once

#include <cstdint>
#include <string_view>

namespace heddle {

// Each means what the StableHLO op of that name means for its element type: signed and unsigned
// integers wrap, and every operation on floats rounds once.
enum class ScalarOp : std::uint8_t {
  none,
  // of one
  abs,
  negate,
  sign,
  logical_not,  // of bits; of a truth value its opposite
  is_finite,
  popcnt,
  count_leading_zeros,
  floor,
  ceil,
  round_even,
  round_away,
  sqrt,
  rsqrt,
  cbrt,
  exp,
  expm1,
  log,
  log1p,
  sin,
  cos,
  tan,
  tanh,
  logistic,
  erf,
  convert,
  bitcast,
  // of two
  add,
  subtract,
  multiply,
  divide,
  remainder,
  minimum,
  maximum,
  power,
  atan2,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right_arithmetic,
  shift_right_logical,
  equal,  // comparisons of floats are IEEE's: false for NaN, but for not_equal
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  // of three
  select,  // condition, yes, no
  clamp,   // low, x, high
};

std::string_view name(ScalarOp op);
int operand_count(ScalarOp op);
// A function call per element, not an instruction or two.
bool is_heavy(ScalarOp op);

}  // namespace heddle
