// On whose exact digits something else depends than numbers that are about as exact.
#pragma once

#include <vector>

#include "heddle/program.h"

namespace heddle {

// By OpId: whether what the op computes may decide something, be it by way of others: two numbers
// are compared, one is rounded to a whole one, its bits are looked at, lines are sorted by it, or a
// loop goes on by it. A comparison with a constant is not counted, as of a number with zero: near
// to it either answer will do.
std::vector<bool> deciding_ops(const Program& program);

}  // namespace heddle
