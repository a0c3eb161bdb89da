// Client ops become core ops.
#pragma once

#include "heddle/program.h"

namespace heddle {

// The program with every chlo op written in stablehlo ops, at the same locations.
Expected<Program> lower_chlo(const Program& program);

}  // namespace heddle
