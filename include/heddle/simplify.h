// Programs with less to do, and the same results.
#pragma once

#include "heddle/program.h"

namespace heddle {

// The program without what nobody uses, without what is there already, with constants computed and
// with ops left out that change nothing. Every result keeps its bits: nothing is done that holds
// only for real numbers, such as x + 0 = x, which is wrong for x = -0.
Expected<Program> simplify(const Program& program);

}  // namespace heddle
