// Which collectives may become one.
#pragma once

#include <string>

#include "heddle/program.h"

namespace heddle {

// What must be equal; empty for ops that stay alone. Only those along axes of a mesh are ours.
std::string collective_key(const Program& program, const Op& op);

}  // namespace heddle
