// The stages of compile() that turn a program into that of each device of a mesh.
#pragma once

#include "heddle/placement.h"
#include "heddle/spmd.h"
#include "heddle/target.h"

namespace heddle {

// What is decided for the target on its mesh; on the mesh of its cluster with the best plan, where
// it names a cluster and no mesh. `program` is inlined and has no client ops but those that devices
// compute.
Expected<std::shared_ptr<Parallel>> decided_for(const Program& program, const Target& target);
// Of that, what a search has found.
Expected<FoundPlan> found_for(const Program& program, const Target& target);

// Where arguments and results of the function lie.
Placement placement_of(const Spmd& spmd, const SpmdFunction& function);

}  // namespace heddle
