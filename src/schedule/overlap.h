// Collectives begin early and are waited for late.
#pragma once

#include "heddle/program.h"

namespace heddle {

// Work near a collective that neither needs it nor is needed by it comes between its begin and its
// wait, as much as the collective should take; of collectives whose results take more room than
// their operands, at most `most_bytes` of results are under way together.
Program overlap_collectives(const Program& program, std::int64_t most_bytes);

}  // namespace heddle
