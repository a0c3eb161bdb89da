// Memory with the copies that moves leave: a value that is brought to where it is needed is there
// twice from then on until nobody needs it so.
#pragma once

#include "parallel/search/network.h"

namespace heddle::search {

// The most that values and their copies take where each cell goes its way. No copy that takes no
// less than what it was made from stays over one of the times `let_go`.
Peak peak_with_copies(const Cells& cells, const std::vector<int>& ways, SplitLists& lists,
                      const std::vector<std::int64_t>& let_go);

}  // namespace heddle::search
