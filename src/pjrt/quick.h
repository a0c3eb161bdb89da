// Programs that take next to no time.
#pragma once

#include "heddle/executable.h"

namespace heddle::pjrt {

// Over before another thread would have begun it.
bool is_quick(const Executable& executable);

}  // namespace heddle::pjrt
