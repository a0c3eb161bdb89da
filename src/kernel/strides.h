// How the values of a stage change along its loops.
#pragma once

#include <optional>

#include "heddle/kernel.h"

namespace heddle {

using Strides = std::vector<std::optional<std::int64_t>>;

// How much each node grows with one step of a loop; none where that is not always the same.
Strides strides_along(const Stage& stage, std::uint32_t loop);

// Per node, a bit for every loop that it changes with. What is loaded from a buffer that the stage
// writes may change with all of them.
std::vector<std::uint64_t> loops_under(const Stage& stage);

}  // namespace heddle
