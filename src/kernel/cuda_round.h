// Where a thread is in a turn of its block, as CUDA text.
#pragma once

#include <string>

#include "kernel/round.h"

namespace heddle {

// The first of a thread's accesses along a dimension. Threads that are one too many have places
// behind the last one of the dimension whose neighbours are furthest apart.
std::string cuda_first(const Round& round, std::size_t dim);

}  // namespace heddle
