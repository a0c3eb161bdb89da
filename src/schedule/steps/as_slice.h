// as_slice: an argument or result that every device has as a whole lies in slices instead, as ZeRO
// keeps an optimiser's state.
#pragma once

#include "heddle/spmd.h"
#include "schedule/steps/edit.h"

namespace heddle {

// Every use of the argument must be the device's own slice already. `placed` then says that it lies
// in slices.
Expected<Rewritten> slice_argument(const Program& program, SpmdFunction& placed,
                                   std::size_t argument);
// The result must be an all_gather, which goes where nobody else needs it.
Expected<Rewritten> slice_result(const Program& program, SpmdFunction& placed, std::size_t result);

}  // namespace heddle
