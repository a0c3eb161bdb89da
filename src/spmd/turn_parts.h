// Which loops over layers are taken apart, and into which runs of turns.
#pragma once

#include "heddle/row_parts.h"
#include "spmd/turns.h"

namespace heddle {

struct CutLoop {
  OpId op = kNone;
  LoopTurns turns;
};

// Loops of every micro-batch whose turns take rows of what no micro-batch changes, but for what is
// made of nothing: parameters.
std::vector<CutLoop> loops_with_parameters(const MicroBatches& micro);

std::int64_t count_of_most_work(const Program& program, const std::vector<CutLoop>& loops);

// What goes before and behind loops takes its share of the first and the last part.
std::vector<RowRange> parts_of_equal_work(const MicroBatches& micro,
                                          const std::vector<CutLoop>& loops, std::int64_t turns,
                                          std::int64_t parts);

}  // namespace heddle
