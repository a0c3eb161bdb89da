// Functions that libraries know, as programs write them.
#pragma once

#include <optional>

#include "heddle/program.h"

namespace heddle {

// What the op is the GELU of, in its form with tanh: x / 2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715
// x^3))), its factors in any order and its constants as near as the type has them.
std::optional<ValueId> gelu_operand(const Program& program, const Op& op);

// max(x, 0)
bool is_relu_of(const Program& program, const Op& op, ValueId x);
// Whether x is above zero, or is not: the same for max(x, 0).
bool is_sign_of(const Program& program, const Op& op, ValueId x);

// A value with one row's worth of elements that are repeated over all other dimensions of this one;
// kNone where it is nothing of the kind.
ValueId repeated_row(const Program& program, ValueId value);

}  // namespace heddle
