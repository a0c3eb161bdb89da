// What a step has to wait for.
#pragma once

#include "runtime/slots.h"
#include "runtime/step.h"

namespace heddle::runtime {

// Adds to each step, inside of loops and branches too, the earlier ones of its list that touch the
// same bytes, at least one of the two writing. The places in the arena must be known.
void add_dependences(StepList& list, const SlotTable& slots);

// While a collective is under way, no step touches what it reads or writes. A step that does is a
// defect of ours.
void verify_overlaps(const StepList& list);

}  // namespace heddle::runtime
