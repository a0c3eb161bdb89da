// What an executable costs, in the words that JAX's cost analysis has for it.
#pragma once

#include "heddle/executable.h"
#include "heddle/program.h"
#include "pjrt/named_values.h"

namespace heddle::pjrt {

// Every function of the program counts once.
void add_cost(const Program& program, const Executable& executable, NamedValues& cost);

}  // namespace heddle::pjrt
