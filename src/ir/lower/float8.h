// Conversions from and to floats of 8 bits, as arithmetic on their bits.
#pragma once

#include "ir/rewrite.h"

namespace heddle {

// Between such a float and what kernels compute with; only a bitcast from or to ui8 is left of it.
// Says false where the op is no such conversion.
Expected<bool> lower_float8(Rewriter& rewriter, const Op& op);

}  // namespace heddle
