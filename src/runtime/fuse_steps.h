// A marked reduce_scatter, the launch that uses it and the all_gather of what that makes become one
// step.
#pragma once

#include "runtime/slots.h"
#include "runtime/step.h"

namespace heddle::runtime {

// Before memory is planned: what the steps between them use stays for as long as all of them take,
// since these may change places. Where they cannot become one step they stay, and a note of the
// first says why.
// On a device of its own all values keep their memory: ranks that do not share it go one by one.
void fuse_steps(StepList& list, SlotTable& slots, std::vector<StepInfo>& infos,
                bool in_host_memory);

}  // namespace heddle::runtime
