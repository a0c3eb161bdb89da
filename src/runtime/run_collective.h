// One op between devices, begun and waited for by one rank.
#pragma once

#include "runtime/run_state.h"
#include "runtime/step.h"

namespace heddle::runtime {

// How the ranks of a transport are numbered; a reason where they cannot be.
Expected<RankGrid> rank_grid(const Transport& transport, const RunOptions& options);

Verdict start_collective(const StartStep& step, RunState& run, Transport& transport,
                         const RunOptions& options);
Verdict wait_for_collective(const WaitStep& step, RunState& run, Transport& transport);

// What was sent has arrived.
Verdict finish_sends(RunState& run, Transport& transport);

}  // namespace heddle::runtime
