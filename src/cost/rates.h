// Seconds of the parts that everything is made of: bytes, instructions, starts.
#pragma once

#include "cost/instructions.h"
#include "heddle/machine.h"

namespace heddle::cost {

// What one stage of one block takes to start: loop bounds, addresses, an empty pipeline.
inline constexpr double kStageSeconds = 2e-8;
// Work that is over before a second worker would have begun.
inline constexpr double kWorthSharing = 5e-6;
// Ways whose estimates differ by less are equally good: a matter of taste.
inline constexpr double kClearly = 1.02;

// Bytes that are read or written once by `workers` at the same time. A small value is in some cache
// when it is read again, a large one comes from memory; `cache` is what holds it.
double traffic_seconds(double bytes, std::int64_t cache, double workers,
                       const MachineFigures& machine);
// Bytes that a cache holds for sure.
double cached_seconds(double bytes, double workers, const MachineFigures& machine);
// Bytes that no cache holds.
double memory_seconds(double bytes, double workers, const MachineFigures& machine);

// Seconds of one worker.
double work_seconds(const Instructions& all, const MachineFigures& machine);

// Seconds of a kernel that moves memory and computes at the same time.
double overlapped(double memory, double work);

}  // namespace heddle::cost
