#include "ir/eval/scalar_function.h"

#include "ir/eval/elementwise.h"
#include "ir/eval/special_functions.h"
#include "ir/ops/op_families.h"

namespace heddle {

namespace {

std::uint64_t same_bits(std::uint64_t x, std::uint64_t, std::uint64_t) { return x; }
std::uint64_t chosen(std::uint64_t condition, std::uint64_t yes, std::uint64_t no) {
  return (condition & 0xff) != 0 ? yes : no;
}

// Of an op whose operands and result have one type.
ScalarFunction same_type_function(ScalarOp op, DType type) {
  if (op == ScalarOp::select) return is_kernel_type(type) ? chosen : nullptr;
  if (op == ScalarOp::clamp) return clamp_scalar(type);
  if (op == ScalarOp::erf) return unary_scalar<RealFunction<error_function>>(type);
  const std::string_view name = elementwise_name(op);
  if (operand_count(op) == 2) return binary_op_scalar(name, type);
  if (ScalarFunction light = light_unary_scalar(name, type)) return light;
  return math_scalar(name, type);
}

}  // namespace

ScalarFunction scalar_function(ScalarOp op, DType from, DType to) {
  if (op == ScalarOp::none || !is_kernel_type(from) || !is_kernel_type(to)) return nullptr;
  if (op == ScalarOp::convert) return conversion_scalar(from, to);
  if (op == ScalarOp::bitcast) return bits(from) == bits(to) ? same_bits : nullptr;
  const bool is_comparison = op >= ScalarOp::equal && op <= ScalarOp::greater_equal;
  if (is_comparison) return to == DType::i1 ? comparison_scalar(op, from) : nullptr;
  if (op == ScalarOp::is_finite)
    return to == DType::i1 ? light_unary_scalar("is_finite", from) : nullptr;
  return from == to ? same_type_function(op, from) : nullptr;
}

}  // namespace heddle
