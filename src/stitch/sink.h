// When kernels run of which nobody needs the results yet.
#pragma once

#include "stitch/graph.h"

namespace heddle {

// When a unit runs: the stretch of the schedule, and behind how many launches and collectives of it
// at least.
using Turn = std::pair<std::size_t, std::size_t>;

// Units as early as they can run.
struct UnitTurns {
  const std::vector<Pattern>& units;
  const std::vector<std::size_t>& unit_of;  // by vertex
  const std::vector<std::size_t>& way;      // the longest to each unit
  std::vector<Turn>& turn;
};

// Moves kernels that write more than they are the last to read to the last launch before somebody
// needs what they write, so that it takes no memory until then. There are no more launches than
// before.
void sink_kernels(const Graph& graph, const UnitTurns& all);

}  // namespace heddle
