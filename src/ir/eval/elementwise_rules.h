// Type rules of elementwise ops.
#pragma once

#include <string>

#include "heddle/op.h"

namespace heddle {

// Kinds of element types that an op takes, as a set.
using Kinds = unsigned;
inline constexpr Kinds kTruth = 1, kSigned = 2, kUnsigned = 4, kFloat = 8, kComplex = 16;
inline constexpr Kinds kInteger = kSigned | kUnsigned, kNumber = kInteger | kFloat | kComplex,
                       kAnything = kTruth | kNumber;

Kinds kind_of(DType dtype);

// ---- building blocks, for chlo's rules too; every reason opens with the op in brackets

Verdict require_kind(const Program& program, const Op& op, std::size_t operand, Kinds kinds);
// All operands have the type of the first.
Verdict require_same_operands(const Program& program, const Op& op, std::string_view label);

// ---- rules

Expected<ResultTypes> same_types(const Program& program, const Op& op, Kinds allowed);
Expected<ResultTypes> part_of(const Program& program, const Op& op, Kinds allowed);
// Operands of one type, result of the same type.
template <Kinds kAllowed>
Expected<ResultTypes> same_type_rule(const Program& program, const Op& op) {
  return same_types(program, op, kAllowed);
}
// abs, real, imag: the result of a complex operand is of its parts' type.
template <Kinds kAllowed>
Expected<ResultTypes> part_rule(const Program& program, const Op& op) {
  return part_of(program, op, kAllowed);
}
Expected<ResultTypes> is_finite_rule(const Program& program, const Op& op);
Expected<ResultTypes> complex_rule(const Program& program, const Op& op);
Expected<ResultTypes> compare_rule(const Program& program, const Op& op);
Expected<ResultTypes> select_rule(const Program& program, const Op& op);
Expected<ResultTypes> clamp_rule(const Program& program, const Op& op);
Expected<ResultTypes> reduce_precision_rule(const Program& program, const Op& op);
// The author's choice, which they check.
Verdict convert_rule(const Program& program, const Op& op);
Verdict bitcast_convert_rule(const Program& program, const Op& op);

}  // namespace heddle
