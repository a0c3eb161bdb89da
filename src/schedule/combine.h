// Collectives of equal kind become one with several operands, and what nobody uses goes.
#pragma once

#include "heddle/schedule.h"

namespace heddle {

// Collectives that wait for nothing in between meet where the first of their results is needed. All
// operands of one take at most `combine_bytes` on a device.
Program combine_collectives(const Program& program, const ScheduleOptions& options);

}  // namespace heddle
