// Powers with a small exponent that is known.
#pragma once

#include "ir/rewrite.h"

namespace heddle {

// x^c of f32 and narrower, for c a multiple of one half up to 4: products, a root and a quotient in
// f64, rounded once. Says false where the op is no such power.
Expected<bool> lower_power(Rewriter& rewriter, const Op& op);

}  // namespace heddle
