// Ops that leave a value as it is and say where it is to lie.
#pragma once

#include "heddle/parallel.h"

namespace heddle {

// The axes of a sum that sdy asks for.
SplitAxes named_axes(const Program& program, const Op& op, const Mesh& mesh);

// Whether an op that the value is made of took something that is split over one of the axes, as the
// text says, and gave something that is not: then a sum over them completes the value, and adds
// nothing to one that is complete already. What sdy moves is complete.
bool comes_from(const Program& program, const Mesh& mesh, const Propagation& layouts, ValueId v,
                const SplitAxes& axes);

}  // namespace heddle
