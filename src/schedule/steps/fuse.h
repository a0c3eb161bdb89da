// fuse: collectives of equal kind become one with several operands, each in a buffer of its own.
#pragma once

#include "schedule/steps/edit.h"

namespace heddle {

// Makes its results, in the order of the list. They must lie in one region, and none may need
// another.
Expected<Rewritten> fuse(const Program& program, std::uint32_t mesh, const std::vector<OpId>& ops);

}  // namespace heddle
