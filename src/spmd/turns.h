// Turns of loops: a model that scans over its layers has one loop for all of them, whose turns are
// the layers. Such a loop can be taken apart, some turns in each part, so that a pipeline can cut
// it.
#pragma once

#include "heddle/micro_batches.h"

namespace heddle {

// What a loop carries, where it goes over turns 0, 1, ... by ones.
struct LoopTurns {
  enum class Kind : std::uint8_t {
    state,    // each turn has it from the one before
    counter,  // the number of the turn
    same,     // for all turns
    taken,    // each turn takes a row of its own
    put,      // each turn puts a row of its own
  };
  std::int64_t count = 0;
  std::vector<Kind> kinds;     // by what is carried
  std::vector<bool> backward;  // by what is carried: the first turn has the last row
  // Values from around the loop of which each turn takes a row of its own.
  struct Taken {
    ValueId value = kNone;
    bool backward = false;
  };
  std::vector<Taken> from_around;
};
std::optional<LoopTurns> turns_of(const Program& program, const Op& loop);

// How many turns the loops have whose turns have parameters of their own; 0: there are none. Of
// several such numbers that of most work.
std::int64_t turns_to_cut(const MicroBatches& micro);

// Takes these loops apart into so many parts, of about equal work together with what comes before
// and behind them; what has a row for each turn (parameters, gradients, states of the optimiser) is
// worked on in the same parts. As many as there are turns at most. True where there was something
// to take apart.
Expected<bool> cut_turns(MicroBatches& micro, std::int64_t parts);

}  // namespace heddle
