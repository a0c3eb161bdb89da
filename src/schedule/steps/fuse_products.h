// Whether a product can be done some rows at a time, as a collective beside it wants them.
#pragma once

#include "schedule/steps/edit.h"

namespace heddle {

// `product` makes the rows of what `scatter` sums, for nobody else.
Verdict check_makes_rows(const Program& program, OpId product, OpId scatter,
                         const std::vector<std::vector<OpId>>& users);

// `product` takes the rows that `gather` brings, and gives as many of its result for them.
Verdict check_takes_rows(const Program& program, OpId gather, OpId product);

}  // namespace heddle
