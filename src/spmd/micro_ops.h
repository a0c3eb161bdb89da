// What writers of micro-batches share.
#pragma once

#include "heddle/micro_batches.h"

namespace heddle {

inline constexpr const char* kMicroSum = "heddle.sum_over_micro_batches";
bool is_micro_sum(const Op& op);

// Sums inside of loops become sums of what the loops give; a reason where that is not the same.
Expected<Program> with_sums_outside(const Program& program, const MicroBatches& cut);

// Whether every device gets as much of each micro-batch as all others, by these layouts.
Verdict shares_micro_batches(const Program& program, const Function& function,
                             const MicroBatches& cut, const Propagation& layouts);

// Arguments and results of a function of micro-batches become those of the whole batch.
Verdict with_whole_batch(SpmdFunction& function, const MicroBatches& cut);

}  // namespace heddle
