// What is told of the collectives that a device's program has.
#pragma once

#include "heddle/spmd.h"

namespace heddle {

// One entry for each collective of a function, for programs that were changed after they were
// written: nobody knows any more which op of the logical program needs it.
std::vector<Communication> communications_in(const Program& local, const Function& function,
                                             const MeshDecl& mesh);

}  // namespace heddle
