// Plans in several legs, each by collectives or by an exchange, through layouts of plan_stops.
#pragma once

#include "layout/plan_moves.h"

namespace heddle {

// All moves from one layout to another.
struct Way {
  std::vector<Move> moves;
  double seconds = 0;
  std::int64_t peak = 0;
  std::vector<Layout> through;
};

// Adds up what the moves cost.
Way way_of(std::vector<Move> moves);

struct Routes {
  std::optional<Way> best;  // faster than what was asked for, within the memory cap
  std::vector<Way> others;  // what else was complete, in the order found
  int states = 0;
};

// Tries a few stops, fewer where many states were looked at before: the time is bounded, and
// depends on the number of pieces and not on sizes.
Routes find_routes(const PlanContext& in, double faster_than, int looked_at);

}  // namespace heddle
