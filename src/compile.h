// The parts of compile() that belong to no folder.
#pragma once

#include "heddle/compile.h"
#include "heddle/spmd.h"
#include "runtime/compiled.h"

namespace heddle {

// What of the function, or of those that it calls, only the interpreter can run; empty: nothing.
std::string why_interpreted(const Program& program, const std::string& entry);

// Units for a region and for the bodies of loops and branches inside.
Verdict stitch_regions(runtime::CompiledProgram& compiled, RegionId region,
                       const StitchOptions& options);

// Kernels for the groups, and machine code for them; a group that cannot be lowered becomes its
// ops. `on_lowered` is called between the two.
Verdict make_kernels(runtime::CompiledProgram& compiled, const CompileOptions& options,
                     const MachineFigures& machine, const std::function<void()>& on_lowered);

}  // namespace heddle
