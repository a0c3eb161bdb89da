// Which values are used, and programs without ops that nobody needs.
#pragma once

#include <vector>

#include "heddle/program.h"

namespace heddle {

// How often each value is an operand.
std::vector<int> use_counts(const Program& program);

// Ops without an effect, none of whose results is used by an op that stays.
std::vector<bool> unused_ops(const Program& program);

Expected<Program> without_unused(const Program& program);

}  // namespace heddle
