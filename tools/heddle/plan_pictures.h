// Pictures of how the arguments and results of a function lie on a mesh.
#pragma once

#include <string>

#include "heddle/spmd.h"
#include "terminal.h"

namespace heddle::cli {

// One for all that lie alike; what is whole everywhere is left out.
std::string boundary_pictures(const SpmdFunction& function, const Program& program,
                              const Style& style);

}  // namespace heddle::cli
