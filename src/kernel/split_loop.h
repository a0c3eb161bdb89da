// A loop that a stage takes apart by itself, as two loops.
#pragma once

#include "heddle/kernel.h"

namespace heddle {

// Where updates go to `loop / d`, of a loop of q * d positions, two loops of q and d have the same
// points in the same order; then each of q has its own element. Else the stage as it is.
Stage split_divided_loop(const Stage& stage);

// Stages one after the other with the statements of this one, where its sums go along different
// loops so that no loop is left for threads to share: sums of rows and of columns.
std::vector<Stage> split_sums(const Stage& stage);

}  // namespace heddle
