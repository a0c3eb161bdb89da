// What the blocks of a plan of loops need: whether they can compute it, and what they would compute
// twice.
#pragma once

#include "stitch/loop_plan.h"

namespace heddle {

// A block keeps values for its own positions only. Where an op reads one at other positions along
// an outer axis (x - xᵀ, a shift), another block has it. Gives such a value, or kNone.
ValueId out_of_reach(const Program& program, const StitchGroup& group, const LoopPlan& loop_plan);

// Values with an expensive function in them that a stage would compute again and again, because it
// runs over axes that they do not have and takes vectors along one that they have.
std::vector<ValueId> repeated_values(const Program& program, const StitchGroup& group,
                                     const LoopPlan& loop_plan);

}  // namespace heddle
