// Values that are computed again where they are needed late, instead of being kept until then: the
// activations of a deep network from its forward to its backward part.
#pragma once

#include "heddle/search.h"

namespace heddle::search {

struct Recomputation {
  // How much work may be done to keep a byte less, in bytes that memory is read or written instead.
  int effort = 0;
  std::vector<ValueId> again;   // results of ops, in order
  std::vector<ValueId> needed;  // of all values before the fullest time, those needed after it
  std::vector<ValueId> kept;    // those that still are where the others are computed again
  std::vector<int> stretch;     // by place in the body: ops that are recomputed together
  std::vector<bool> free;       // by ValueId: made of constants alone, and used as they are
  std::size_t late = 0;         // the place in the body from which on copies are taken
};

// From little work to much; none where it would save next to nothing. They follow from the program
// alone, not from meshes or figures.
std::vector<Recomputation> recomputations(const Program& program, const Function& function,
                                          RuleCache& rules);
// The one of this effort.
Recomputation recomputation_for(const Program& program, const Function& function, RuleCache& rules,
                                int effort);

// Adds a function to the program that computes the same.
Recomputing with_recomputation(Program& program, const Function& function,
                               const Recomputation& how);

}  // namespace heddle::search
