// Cells that are alike as far as one can see from them: the layers of a deep network.
#pragma once

#include "parallel/search/cells.h"

namespace heddle::search {

// The class of each cell, counted from 0. Cells of one class have the same ways, are computed as
// often, and so are all cells around them, up to a few steps away. Small programs have a class for
// each cell.
std::vector<int> classes_of(const Cells& cells);

}  // namespace heddle::search
