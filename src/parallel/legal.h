// Which splits of its factors an op can be written for: all devices run the same op on their parts.
#pragma once

#include "heddle/price.h"

namespace heddle {

// Leaves out splits that the op cannot be written for.
void make_legal(OnMesh& on, OpId id, const IndexRule& rule, FactorAxes& axes);

// Operands of which every device needs a whole dimension are not split along it.
void take_all_of(OnMesh& on, const Op& op, const IndexRule& rule, Choice& choice);

}  // namespace heddle
