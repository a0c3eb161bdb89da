// Collectives of equal kind become one with several operands.
#pragma once

#include "heddle/program.h"

namespace heddle {

void combine_collectives(Program& program);

}  // namespace heddle
