// Scatters of one element to each row of what is the same everywhere.
#pragma once

#include "ir/rewrite.h"

namespace heddle {

// The gradient of an element that was taken of each row: a comparison of positions with the index,
// which kernels compute where they need it. Says false where the op is no such scatter.
Expected<bool> lower_one_update(Rewriter& rewriter, const Op& op);

}  // namespace heddle
