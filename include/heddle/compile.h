// The compiler: a program becomes an executable, for one device or for those of a mesh.
#pragma once

#include "heddle/compile_options.h"
#include "heddle/executable.h"
#include "heddle/placement.h"
#include "heddle/program.h"
#include "heddle/search.h"
#include "heddle/target.h"

namespace heddle {

// Compiles one function of a program. Where something of it can only be interpreted as a whole, the
// executable does that and says why. It knows its placement: where arguments and results lie.
Expected<Executable> compile(const Program& program, const Target& target);
// For one device.
Expected<Executable> compile(const Program& program, const CompileOptions& options = {});

// The stages up to the program of each device (spmd.h), for all functions of a program: what
// compile() does first. The target's entry is the function that its layouts are of; it may be
// empty.
Expected<Spmd> distribute(const Program& program, const Target& target);
// What a search finds for the target's entry, without writing the program of each device.
Expected<FoundPlan> find_plan(const Program& program, const Target& target);
// The stages after that, for the target's entry.
Expected<Executable> compile_distributed(const Spmd& spmd, const Target& target);

}  // namespace heddle
