// Windows of a dimension that is dealt out in blocks: from the neighbours' edges where these reach,
// from the whole dimension elsewhere.
#pragma once

#include "spmd/core.h"

namespace heddle {

// The device's window of a value of which it has a block.
ValueId fetch(Core& core, ValueId local, const Window& window);

}  // namespace heddle
