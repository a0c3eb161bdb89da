// Values that take more room than what they are made of.
#pragma once

#include "heddle/program.h"

namespace heddle {

// Whether an op spreads out what it is made of: repeated, numbered, widened, or compared, at next
// to no cost, and to more bytes than it reads. It is better done anew by every kernel that needs
// it than kept in memory from one kernel to another.
bool is_spread_out(const Program& program, const Op& op);

}  // namespace heddle
