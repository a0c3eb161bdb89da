// Remote fusion: patterns and single vertices become one where they hand something on or read the
// same, as long as that is legal and saves time.
#pragma once

#include <functional>

#include "stitch/cost.h"

namespace heddle {

using IsLegal = std::function<bool(const Pattern&)>;

// The patterns of at least two vertices that are left.
std::vector<Pattern> merge(const Graph& graph, const CostModel& cost, std::vector<Pattern> plan,
                           const IsLegal& is_legal);

// The same for patterns whose union has more than kMostOps, up to kMostJoined: chains that the
// search had to cut.
std::vector<Pattern> join_chains(const Graph& graph, const CostModel& cost,
                                 std::vector<Pattern> plan, const IsLegal& is_legal);

// Where a full pattern has a part of what is tied together by tensors and another one the rest of
// it, both parts become one pattern and leave the others.
std::vector<Pattern> mend_cuts(const Graph& graph, const CostModel& cost, std::vector<Pattern> plan,
                               const IsLegal& is_legal);

}  // namespace heddle
