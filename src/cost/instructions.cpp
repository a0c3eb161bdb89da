#include "cost/instructions.h"

#include <algorithm>

#include "heddle/op.h"

namespace heddle {

namespace {

// Measured with vectors of f32 beside additions and exponentials.
Instructions of_scalar(ScalarOp op) {
  switch (op) {
    case ScalarOp::divide:
      return {.light = 8};
    case ScalarOp::sqrt:
      return {.light = 12};
    case ScalarOp::rsqrt:
      return {.light = 20};
    case ScalarOp::minimum:
    case ScalarOp::maximum:
    case ScalarOp::sign:
    case ScalarOp::round_away:
      return {.light = 3};
    case ScalarOp::clamp:
      return {.light = 6};
    case ScalarOp::popcnt:
    case ScalarOp::count_leading_zeros:
      return {.light = 4};
    case ScalarOp::exp:
      return {.heavy = 1};
    case ScalarOp::logistic:
      return {.heavy = 1.5};
    case ScalarOp::log:
    case ScalarOp::log1p:
    case ScalarOp::expm1:
    case ScalarOp::tanh:
    case ScalarOp::erf:
      return {.heavy = 2};
    case ScalarOp::sin:
    case ScalarOp::cos:
    case ScalarOp::tan:
      return {.heavy = 3};
    case ScalarOp::atan2:
      return {.heavy = 4};
    case ScalarOp::cbrt:
      return {.heavy = 5};
    case ScalarOp::power:
      return {.heavy = 7};
    case ScalarOp::remainder:
      return {.heavy = 25};  // lane by lane
    default:
      return {.light = 1};
  }
}

Instructions of_move(const Op& op) {
  constexpr double kGuard = 1, kIndex = 0.1, kLane = 16;
  switch (op.def->emission) {
    case Emission::copy:  // guards of a pad run over the edges only
      return {.light = kIndex};
    case Emission::join:
      return {.light = (kGuard + 1) * static_cast<double>(op.operand_count)};
    case Emission::dynamic_slice:
      return {.light = 2 * kIndex};
    case Emission::dynamic_update_slice:
      return {.light = 2 * kGuard + 1};
    case Emission::gather:
    case Emission::scatter:
      return {.light = kLane};  // an access per lane
    default:
      return {.light = 1};
  }
}

// What a kernel's instructions take in f32 and in f64, measured in chains with data in the first
// cache: light ones beside a mix of sums and products, heavy ones beside exponentials of f32.
struct VectorCost {
  ScalarOp op;
  Instructions f32, f64;
};
constexpr VectorCost kVectorCosts[] = {
    {ScalarOp::divide, {.light = 10}, {.light = 16}},
    {ScalarOp::sqrt, {.light = 19}, {.light = 29}},
    {ScalarOp::rsqrt, {.light = 30}, {.light = 47}},
    {ScalarOp::minimum, {.light = 5}, {.light = 5}},
    {ScalarOp::maximum, {.light = 5}, {.light = 5}},
    {ScalarOp::clamp, {.light = 10}, {.light = 10}},
    {ScalarOp::sign, {.light = 5}, {.light = 4}},
    {ScalarOp::floor, {.light = 3}, {.light = 2}},
    {ScalarOp::ceil, {.light = 3}, {.light = 2}},
    {ScalarOp::exp, {.heavy = 1}, {.heavy = 1.5}},
    {ScalarOp::log, {.heavy = 1.5}, {.heavy = 2.9}},
    {ScalarOp::log1p, {.heavy = 3.4}, {.heavy = 4.3}},
    {ScalarOp::expm1, {.heavy = 5.3}, {.heavy = 5.4}},
    {ScalarOp::tanh, {.heavy = 1.9}, {.heavy = 7.5}},
    {ScalarOp::logistic, {.heavy = 1.6}, {.heavy = 2.1}},
    {ScalarOp::sin, {.heavy = 3}, {.heavy = 3.1}},
    {ScalarOp::cos, {.heavy = 2.7}, {.heavy = 3}},
    {ScalarOp::erf, {.heavy = 2.1}, {.heavy = 14}},
    {ScalarOp::power, {.heavy = 6.5}, {.heavy = 5.5}},
    {ScalarOp::cbrt, {.heavy = 5.9}, {.heavy = 6.9}},
    {ScalarOp::atan2, {.heavy = 2.7}, {.heavy = 4.1}},
};

Instructions of_vectors(ScalarOp op, DType type) {
  for (const VectorCost& one : kVectorCosts)
    if (one.op == op) return type == DType::f64 ? one.f64 : one.f32;
  return of_scalar(op);
}

// Computed in f32 and rounded.
void add_rounding(Instructions& cost, DType type, double rounding) {
  if (type == DType::f16 || type == DType::bf16) cost.light += rounding;
}

}  // namespace

Instructions instructions_of(ScalarOp op, DType type) {
  Instructions cost = of_vectors(op, type);
  if (op != ScalarOp::select) add_rounding(cost, type, MachineFigures{}.rounding);
  return cost;
}

Instructions instructions_of(const Program& program, const Op& op, double rounding) {
  Instructions cost =
      op.def->emission == Emission::scalar ? of_scalar(op.def->scalar) : of_move(op);
  if (op.result_count == 0) return cost;
  const DType type = program.type_of(program.result(op, 0)).dtype;
  const bool computes = op.def->emission == Emission::scalar && op.def->scalar != ScalarOp::select;
  if (computes) add_rounding(cost, type, rounding);
  // Wide types fill a vector with fewer elements.
  const double width = std::max(1.0, static_cast<double>(byte_size(type)) / 4);
  return {cost.light * width, cost.heavy * width};
}

}  // namespace heddle
