// Seconds of the parts that everything is made of: bytes, instructions, starts.
#pragma once

#include "cost/instructions.h"
#include "heddle/machine.h"

namespace heddle::cost {

// What every step takes beside its work and the waking of workers: addresses, cold code and caches.
inline constexpr double kStepSeconds = 4e-6;
// What one stage of one block takes to start: loop bounds, addresses, an empty pipeline.
inline constexpr double kStageSeconds = 2e-8;
// Work that is over before a second worker would have begun.
inline constexpr double kWorthSharing = 8e-6;
// Ways whose estimates differ by less are equally good: a matter of taste.
inline constexpr double kClearly = 1.02;

// The part of the last cache that one value can count on: others are in it too.
inline constexpr double kShareOfCache = 0.25;
// What is in some cache is not always in the worker's own, which its rate is measured with.
inline constexpr double kShareOfNearRate = 0.5;

// Two workers of a machine, with the memory and the cache that they can draw on. Groups of ops are
// compared by these, so that they are the same with any number of workers: more of them compute
// more at a time, but all share one memory, and a plan that leans on either would be another one
// for every machine. How a group runs, and whether it pays, is priced by all of the machine. A GPU
// is taken as it is: there, starting a kernel costs as much as very much work.
MachineFigures of_two_workers(MachineFigures machine);

// As many workers as machines have today, with the memory and the cache that comes with so many:
// what saves nothing with two workers and takes longer with these is made for no machine.
MachineFigures of_many_workers(MachineFigures machine);

// Bytes that are read or written, by what holds them.
struct Traffic {
  double memory = 0, cached = 0;
  // A small value is in the last cache when it is read again, a large one comes from memory.
  void add_value(double bytes, const MachineFigures& machine);
};
// By so many workers at the same time.
double traffic_seconds(const Traffic& traffic, double workers, const MachineFigures& machine);

// Seconds of one worker.
double work_seconds(const Instructions& all, const MachineFigures& machine);

// The workers, of those that have a part to do, that are worth waking for what takes one of them
// `alone` seconds.
double busy_workers(double alone, double parts, const MachineFigures& machine);

// Seconds of a kernel that moves memory and computes at the same time.
double overlapped(double memory, double work);

}  // namespace heddle::cost
