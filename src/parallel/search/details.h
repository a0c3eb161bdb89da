// What a report shows of a plan that was found: what else every choice could be, and memory over
// time.
#pragma once

#include "heddle/search.h"
#include "parallel/search/cells.h"

namespace heddle::search {

// `ways` are those of the plan, by cell, `cost` what it takes, and `held` its bytes over time.
std::shared_ptr<const PlanDetails> details_of(OnMesh& on, SplitLists& lists, const Cells& cells,
                                              const std::vector<int>& classes,
                                              const std::vector<int>& ways, double cost,
                                              std::vector<std::int64_t> held);

}  // namespace heddle::search
