// Whether any plan can fit the memory of a device at all.
#pragma once

#include "parallel/search/cells.h"

namespace heddle::search {

// "tensor<8x4xf32> of dot_general at f.mlir:3:5"
std::string name_of(const Cells& cells, const Held& held, const Program& program);

// Says no where values take more than the limit even where each is split as far as it can be: when
// that is, the largest of them, and how much memory would do.
Verdict has_room(const Cells& cells, SplitLists& lists, const Program& program, std::int64_t limit);

}  // namespace heddle::search
