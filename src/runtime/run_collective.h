// One op between devices, done by one rank.
#pragma once

#include "runtime/run_state.h"
#include "runtime/step.h"

namespace heddle::runtime {

// How the ranks of a transport are numbered; a reason where they cannot be.
Expected<RankGrid> rank_grid(const Transport& transport, const RunOptions& options);

Verdict run_collective_step(const CollectiveStep& step, RunState& run, Transport& transport,
                            const RunOptions& options);

// What was sent has arrived.
Verdict finish_sends(RunState& run, Transport& transport);

}  // namespace heddle::runtime
