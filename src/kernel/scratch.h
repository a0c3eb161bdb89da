// Where the buffers of a kernel lie in the memory of a worker and of the launch.
#pragma once

#include "heddle/kernel.h"

namespace heddle {

// Buffers that no stage needs at the same time share their place.
void place_scratch(Kernel& kernel);

}  // namespace heddle
