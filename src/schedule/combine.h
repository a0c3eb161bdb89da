// Collectives of equal kind become one with several operands, and what nobody uses goes.
#pragma once

#include "heddle/program.h"

namespace heddle {

// Collectives that wait for nothing in between meet where the first of their results is needed. All
// operands of one take at most `most_bytes` on a device.
Program combine_collectives(const Program& program, std::int64_t most_bytes);

}  // namespace heddle
