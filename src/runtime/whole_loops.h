// Loops whose turns a device does as one function.
#pragma once

#include "runtime/slots.h"
#include "runtime/step.h"

namespace heddle::runtime {

// Asks the device about every loop of a list and of what is inside of it, the outermost first. The
// infos of those that it takes say so.
void find_whole_loops(StepList& list, const std::vector<Slot>& slots, Device& device,
                      std::vector<StepInfo>& infos);

}  // namespace heddle::runtime
