// Collectives that the author of a program wrote.
#pragma once

#include "heddle/parallel.h"

namespace heddle {

// Whether devices that an op of a manual computation brings together all have the same pieces.
bool stays_inside(const Program& program, const Op& op, const MeshDecl& mesh,
                  const FactorAxes& axes);

}  // namespace heddle
