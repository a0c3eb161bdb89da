// Memory with the copies that moves leave: a value that is brought to where it is needed is there
// twice from then on until nobody needs it so.
#pragma once

#include "parallel/search/cells.h"

namespace heddle::search {

// Bytes that values and their copies take at each time where each cell goes its way. No copy that
// takes no less than what it was made from stays over one of the times `let_go`.
std::vector<std::int64_t> held_with_copies(const Cells& cells, const std::vector<int>& ways,
                                           SplitLists& lists,
                                           const std::vector<std::int64_t>& let_go);

}  // namespace heddle::search
