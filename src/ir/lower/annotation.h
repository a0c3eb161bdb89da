#pragma once

#include "ir/rewrite.h"

namespace heddle {

// Custom calls that only say something of their operands (Sharding, annotate_device_placement) are
// the operands.
Expected<bool> lower_annotation(Rewriter& r, const Op& op);

}  // namespace heddle
