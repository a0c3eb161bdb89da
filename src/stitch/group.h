// Groups of ops that one kernel computes.
#pragma once

#include "heddle/stitch.h"

namespace heddle {

// The group of these ops of a region, with what goes in and what comes out.
StitchGroup make_group(const Program& program, RegionId region, std::vector<OpId> ops);

}  // namespace heddle
