// The op that one device runs on its parts: what several writers need.
#pragma once

#include "spmd/core.h"

namespace heddle {

// The same op with the types of its parts.
OpId local_op(Core& core, const Op& op, const Choice& choice, const std::vector<ValueId>& operands);

// What stands for elements of an operand that are not there; kNone: anything.
ValueId fill_value(Core& core, const Op& op, const IndexRule& rule, std::size_t operand,
                   const std::vector<ValueId>& operands);

// Where results are partial: only the first device starts from what it is given, and what lies
// beyond the end of a summed dimension must not count.
void neutralise(Core& core, const Op& op, const IndexRule& rule, const Choice& choice,
                std::vector<ValueId>& operands);

}  // namespace heddle
