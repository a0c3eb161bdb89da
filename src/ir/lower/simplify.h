// The parts of simplify().
#pragma once

#include <optional>

#include "ir/rewrite.h"

namespace heddle {

// Whether an op does nothing but give its results, the same ones for the same operands.
bool is_pure(const Program& program, const Op& op);

// The constant that a value is; null where it is none.
const Array* constant_of(const Program& program, ValueId value);

// The results of an op whose operands are constants; nothing where it is not worth it.
std::optional<std::vector<Array>> folded(const Program& program, const Op& op,
                                         const std::vector<const Array*>& operands);

// Values that the op's results are, or simpler ops written for them.
std::optional<Vars> by_algebra(Rewriter& rewriter, const Op& op);

}  // namespace heddle
