// How often a loop runs, as far as its text says.
#pragma once

#include <optional>

#include "heddle/program.h"

namespace heddle {

// A loop that counts from one constant to another by ones; nothing for others.
std::optional<std::int64_t> trips_of(const Program& program, const Op& loop);

}  // namespace heddle
