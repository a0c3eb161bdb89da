// Sums of f16 and bf16, taken in f32.
#pragma once

#include "ir/rewrite.h"

namespace heddle {

// A reduction by addition of numbers of 16 bits: kernels would round each partial sum, and from a
// few hundred terms on the sum would stand still. Says false where the op is no such reduction.
Expected<bool> lower_narrow_sums(Rewriter& rewriter, const Op& op);

}  // namespace heddle
