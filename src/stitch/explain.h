// Why a plan is as it is, in words: for every kernel what it is expected to take, why it is not one
// with its neighbours, and which other ways to launch it were rejected.
#pragma once

#include "heddle/stitch.h"
#include "stitch/graph.h"
#include "stitch/group.h"

namespace heddle {

// Fills in StitchGroup::notes, a few lines for each kernel.
void explain(const Graph& graph, const Readers& readers, const MachineFigures& machine,
             StitchPlan& plan);

}  // namespace heddle
