// Sums that are still to be made, on their way through ops that are linear in them.
#pragma once

#include "heddle/price.h"

namespace heddle {

// Which operands may be sums that are still to be made, so that the result is one too: the op of
// the sums is the sum of the op. Each entry is a set of operands that must pend together.
std::vector<std::vector<std::size_t>> linear_operands(const Program& program, const Op& op,
                                                      const IndexRule& rule);

// Makes these operands and the result pend along the axes; no where the op is split along them too,
// or more would have to be summed behind it than before.
bool pend(OnMesh& on, const Op& op, const std::vector<std::size_t>& operands,
          const SplitAxes& pending, Choice& choice);

}  // namespace heddle
