// Plans that really fit. A search counts what values take; what counts in the end is the compiled
// program, in which memory has gaps, calls have room of their own, and work runs in another order.
#pragma once

#include <map>

#include "heddle/spmd.h"
#include "heddle/target.h"

namespace heddle {

// A program with what was decided for it, dealt out and not in its order yet.
struct Written {
  Spmd spmd;
  std::shared_ptr<Parallel> decided;
};

// Searches that were done for one target, by the limit that each was given: whoever asks with
// another memory gets the same answers.
using SearchesByLimit = std::map<std::int64_t, Expected<Written>>;

// What each device does, not in its order yet, as it is decided for the target. Where a plan is
// searched for with a limit, it is the best that was found whose program compiles within that.
Expected<Spmd> dealt_out(const Program& core, const Target& target, const MicroBatches* cut,
                         SearchesByLimit& done);

// The least memory, as far as is known after some searches, with which `dealt_out` finds a plan.
std::optional<std::int64_t> enough_memory(const Program& core, const Target& target,
                                          const MicroBatches* cut, SearchesByLimit& done);

}  // namespace heddle
