// The full evaluator: what one kernel takes, by its plan of loops. It sees what the quick one of
// cost.h does not: what every stage computes again, what a block keeps and whether that fits its
// cache, values that do not fit the registers, and blocks that do not fill all workers.
#pragma once

#include "heddle/machine.h"
#include "heddle/stitch.h"
#include "stitch/loop_plan.h"

namespace heddle {

struct KernelEstimate {
  double seconds = 0;
  double memory = 0, work = 0;  // seconds of each, by all workers
  double bytes_again = 0;       // moved beside every input and result once
  double bytes_by_stages = 0;  // of these, what stages of a block read that its cache does not hold
  double loads = 0, stores = 0;  // elements, at all points
  double light = 0, heavy = 0;   // instructions, at all points
  int registers = 0;             // values that are alive at once, at most
  std::int64_t block_bytes = 0;  // that a block keeps or reads again
  std::int64_t blocks = 1;       // that can run at the same time
  std::int64_t parts = 1;        // that workers take one at a time: blocks, or chunks of them
};

KernelEstimate estimate(const Program& program, const StitchGroup& group, const LoopPlan& loop_plan,
                        const MachineFigures& machine);

// By the first choice; or, where that leaves workers without a block, by the better one of it and
// of reductions over all blocks.
Expected<KernelEstimate> first_estimate(const Program& program, StitchGroup group,
                                        const MachineFigures& machine);

// A way to run a group: what was found of it.
struct ScheduledGroup {
  LaunchChoice choice = {};
  KernelEstimate best = {};
  // The other ways, with what they would take.
  struct Other {
    LaunchChoice choice;
    double seconds = 0;
  };
  std::vector<Other> others = {};
};

// Tries the launch choices that can make a difference and takes the fastest. A reason where no
// kernel can be right.
Expected<ScheduledGroup> choose_launch(const Program& program, StitchGroup group,
                                       const MachineFigures& machine);

}  // namespace heddle
