// The order of what a device does: a stage after partitioning, which keeps results as they are.
#pragma once

#include "heddle/program.h"

namespace heddle {

struct ScheduleOptions {
  // Collectives of equal kind become one up to so many bytes on a device.
  std::int64_t combine_bytes = std::int64_t{32} << 20;
};

// The same per-device program with all-reduces as early as they can begin, collectives that do not
// wait for one another combined, and without ops that nobody needs.
Program schedule(const Program& program, const ScheduleOptions& options = {});

// Ops of a function that devices meet in, those inside of loops and branches counted once.
std::int64_t collectives_of(const Program& program, const Function& function);
// The most bytes that values of a function take at a time, arguments included, where no ops are
// fused and nothing is computed in place.
std::int64_t peak_bytes(const Program& program, const Function& function);

}  // namespace heddle
