// Numbers of 16 bits that are computed in f32 and rounded where they are kept, not at every step.
#pragma once

#include "heddle/kernel.h"

namespace heddle {

// The kernel in which f16 and bf16 are loaded, stored, compared, converted and combined as before;
// what is computed in between stays f32.
Kernel with_wide_numbers(Kernel kernel);

}  // namespace heddle
