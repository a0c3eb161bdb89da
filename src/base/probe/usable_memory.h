// How much memory there is for this process.
#pragma once

#include <cstdint>

namespace heddle {

// Bytes that this process may use, by the machine and its control groups; 0 where it is unknown.
std::int64_t usable_memory();

}  // namespace heddle
