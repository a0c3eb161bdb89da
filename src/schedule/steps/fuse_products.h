// Whether a product can be done some rows at a time, as a collective beside it wants them.
#pragma once

#include "schedule/steps/edit.h"

namespace heddle {

// `product` makes the rows of what `scatter` sums, for nobody else.
Verdict check_makes_rows(const Program& program, OpId product, OpId scatter,
                         const std::vector<std::vector<OpId>>& users);

// Rows that are no multiple of the devices get room behind the last one before they are summed: the
// pad of a product's result that does so; kNone where there is none.
OpId pad_behind(const Program& program, OpId product, OpId scatter);

// The product of padded operands in place of the pad, so that its rows are summed as they are made.
Expected<Rewritten> pad_before(const Program& program, std::uint32_t mesh, OpId product, OpId pad);

// `product` takes the rows that `gather` brings, and gives as many of its result for them.
Verdict check_takes_rows(const Program& program, OpId gather, OpId product);

}  // namespace heddle
