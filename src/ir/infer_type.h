// The type of an op's only result, where it follows from the operands and attributes.
#pragma once

#include "heddle/op.h"

namespace heddle {

// Asks the type rule of the row, which is the only place that knows: of a few plain types (that of
// an operand, truth values of its shape, parts of complex numbers) exactly one may be accepted. A
// reason says what the rule has against the operands, or that the type must be given.
Expected<Type> infer_type(const OpDef& def, const std::vector<Type>& operands,
                          const AttrDict& attrs);

}  // namespace heddle
