// What each op takes in a plan that was found.
#pragma once

#include "parallel/search/cells.h"

namespace heddle::search {

// By OpId of the function's own region: all of its times, what is inside of it, and what is brought
// to it. What arguments take to come belongs to their first user.
std::vector<double> op_seconds(const Cells& cells, const std::vector<int>& ways, SplitLists& lists,
                               const Program& program, const Function& function);

}  // namespace heddle::search
