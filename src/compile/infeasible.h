// Where no plan fits: the smallest change with which one does.
#pragma once

#include "compile/within_memory.h"

namespace heddle {

// `reason` is why there is none for the target. Where it is the memory or what somebody has fixed,
// says what would do: so much memory, or one thing fixed less. Each has been tried.
// `cut` has the micro-batches of the program, where there are some; `done` the searches that there
// were.
Reason with_what_would_do(const Program& program, const Target& target, const MicroBatches* cut,
                          SearchesByLimit& done, Reason reason);

}  // namespace heddle
