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

// The rule of a core op by its name without dialect; null where there is none.
TypeRule elementwise_rule(std::string_view short_name);

// ---- building blocks, for chlo's rules too; every reason opens with the op in brackets

// As many operands and results as the row says, and tensors all of them.
Verdict require_tensors(const Program& program, const Op& op);
Verdict require_kind(const Program& program, const Op& op, std::size_t operand, Kinds kinds);
// Result `i` has exactly the given type; `label` is the constraint's.
Verdict require_result(const Program& program, const Op& op, std::size_t i, const Type& expected,
                       std::string_view label);
// All operands have the type of the first.
Verdict require_same_operands(const Program& program, const Op& op, std::string_view label);

// Operands of one type, result of the same type.
template <Kinds kAllowed>
Verdict same_type_rule(const Program& program, const Op& op);

}  // namespace heddle
