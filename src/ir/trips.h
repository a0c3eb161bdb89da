// How often a loop runs, as far as its text says.
#pragma once

#include <optional>

#include "heddle/program.h"

namespace heddle {

// A loop that counts from one constant to another, taken to go by ones; nothing for others.
std::optional<std::int64_t> trips_of(const Program& program, const Op& loop);
// The same where the text leaves no doubt: its condition need not be asked.
std::optional<std::int64_t> exact_trips_of(const Program& program, const Op& loop);

}  // namespace heddle
