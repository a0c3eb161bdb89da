// What the machine code of a kernel does, counted by class of instruction: vectors as the emitter
// cuts loops into them, values as deep in the loops as it puts them.
#pragma once

#include "heddle/step_work.h"
#include "kernel/emit_llvm.h"

namespace heddle {

// All blocks of one phase.
KernelWork count_work(const Kernel& kernel, const Phase& phase, const VectorTarget& target);

}  // namespace heddle
