// reorder: ops that use a gathered value are done on the slices instead, and what is left of them
// is gathered; or ops before a reduce_scatter are done behind it, on its slices.
#pragma once

#include "heddle/spmd.h"
#include "schedule/steps/edit.h"

namespace heddle {

// Moves the ops under the all_gather; without a list all that can be moved, one after the other.
// Every result that something else needs gets an all_gather of its own: these are made. A sum over
// what is sliced becomes that of a slice and an all_reduce.
Expected<Rewritten> reorder_under_gather(const Program& program, const SpmdFunction& placed,
                                         OpId all_gather, const std::vector<OpId>* ops);

// Moves an op that is linear in what is still to be summed behind the reduce_scatter that alone
// takes its result. Makes the new reduce_scatter and the moved op's result.
Expected<Rewritten> reorder_past_scatter(const Program& program, const SpmdFunction& placed,
                                         OpId reduce_scatter, OpId op);

}  // namespace heddle
