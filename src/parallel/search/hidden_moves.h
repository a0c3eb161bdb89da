// Moves that go on beside work, as the schedule stage lets them: collectives begin as soon as their
// operand is there, and are waited for before the first use.
#pragma once

#include "parallel/search/cells.h"
#include "parallel/search/traits.h"

namespace heddle::search {

// Says of each move how much work runs beside it at least, whatever is chosen. Of what runs beside
// several, each has a part; sums that are made late, as those of gradients are, alone.
void hide_moves(Cells& cells, const Program& program, const Traits& traits);

}  // namespace heddle::search
