// Windows that are partly outside, where that makes a difference.
#pragma once

#include "ir/rewrite.h"

namespace heddle {

// A reduce_window that begins with more than nothing counts that once more for every element
// outside: its operands are padded with it. Says false where there is nothing outside, or it does
// not count.
Expected<bool> lower_window(Rewriter& rewriter, const Op& op);

}  // namespace heddle
