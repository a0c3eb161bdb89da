// Plans that really fit. A search counts what values take; what counts in the end is the compiled
// program, in which memory has gaps, calls have room of their own, and work runs in another order.
#pragma once

#include "heddle/spmd.h"
#include "heddle/target.h"

namespace heddle {

// What each device does, not in its order yet, as it is decided for the target. Where a plan is
// searched for with a limit, it is one whose program compiles within that.
Expected<Spmd> dealt_out(const Program& core, const Target& target, const MicroBatches* cut);

// The least memory, as far as is known after some searches, with which `dealt_out` finds a plan.
std::optional<std::int64_t> enough_memory(const Program& core, const Target& target,
                                          const MicroBatches* cut);

}  // namespace heddle
