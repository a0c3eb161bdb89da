// Ops that bring a value from one split to another: one collective after the other.
#pragma once

#include "spmd/writer.h"

namespace heddle {

// Any two splits of one value will do. What the planner says happens in one move needs one
// collective here, or none.
ValueId write_transition(Writer& writer, ValueId value, const Split& from, const Split& to);

}  // namespace heddle
