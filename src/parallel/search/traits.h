// What the search has to know of values before it looks at any way: who uses them and when, which
// of them kernels keep to themselves, and which may be sums that are still to be made.
#pragma once

#include "heddle/parallel.h"
#include "parallel/price.h"

namespace heddle::search {

struct ValueTraits {
  int uses = 0;
  OpId user = kNone;       // the one op that uses it; the last one of several
  bool by_kernels = true;  // all of its users are ops that kernels are stitched of
  bool stitched = false;   // its users read it inside of their kernels
  bool in_memory = true;   // not stitched, or used so late that a kernel writes it for another one
  bool may_pend = false;
  std::int64_t made = 0, last_used = 0;  // times
};

struct Traits {
  std::vector<ValueTraits> values;  // by ValueId
  std::vector<std::int64_t> begin;  // of each op, by OpId; regions come after the op that has them
  std::vector<std::int64_t> end;    // when its regions are over too
  std::int64_t times = 0;

  Stitched stitched(const Program& program, const Op& op) const;
};

Traits traits_of(const Program& program, const Function& function, RuleCache& rules);

}  // namespace heddle::search
