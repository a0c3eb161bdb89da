// What a report shows of a plan that was found: what else every choice could be, and memory over
// time.
#pragma once

#include "heddle/search.h"
#include "parallel/search/cells.h"

namespace heddle::search {

// `ways` are those of the plan, by cell, and `cost` what it takes.
std::shared_ptr<const PlanDetails> details_of(OnMesh& on, SplitLists& lists, const Cells& cells,
                                              const std::vector<int>& classes,
                                              const std::vector<int>& ways, double cost);

}  // namespace heddle::search
