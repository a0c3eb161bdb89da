// What only passes values on: it can wait as long as they can.
#pragma once

#include "heddle/program.h"

namespace heddle {

// Element by element, another order, or a reduction along dimensions of one element.
bool goes_on_at_once(const Program& program, const Op& op);

}  // namespace heddle
