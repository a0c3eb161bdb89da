// Functions that libraries know, as programs write them.
#pragma once

#include <optional>

#include "heddle/program.h"

namespace heddle {

// What the op is the GELU of, in its form with tanh: x / 2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715
// x^3))), its factors in any order and its constants as near as the type has them.
std::optional<ValueId> gelu_operand(const Program& program, const Op& op);

// Whether a value is the gradient of a GELU at x, for `dy`, the gradient of what comes out of it:
// dy times the GELU's slope, in whatever way and order that is written. Both are compared by their
// values at many points; a program has a few dozen operations for it, on dy, x and numbers alone.
bool is_gelu_gradient(const Program& program, ValueId value, ValueId dy, ValueId x);

// max(x, 0)
bool is_relu_of(const Program& program, const Op& op, ValueId x);
// Whether x is above zero, or is not: the same for max(x, 0).
bool is_sign_of(const Program& program, const Op& op, ValueId x);

// A value with one row's worth of elements that are repeated over all other dimensions of this one;
// kNone where it is nothing of the kind.
ValueId repeated_row(const Program& program, ValueId value);

}  // namespace heddle
