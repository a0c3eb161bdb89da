// What may be done sooner, so that collectives meet.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "heddle/program.h"

namespace heddle {

// What a pass that looks for such work says of ops and values.
struct AheadQuestions {
  std::function<bool(ValueId)> is_there;  // written already
  std::function<bool(OpId)> is_done;      // or need not be done
  std::function<bool(OpId)> joins;        // a collective that would join those that wait
};

// Of the ops that come next those, in their order, that need only what is there, and that
// collectives which may join are made of: sums of what is at hand, nothing heavy. They leave at
// most so many bytes that are needed later too.
std::vector<OpId> work_to_join(const Program& program, std::span<const OpId> next,
                               const AheadQuestions& ask, std::int64_t most_bytes);

// By value: whether nothing is computed of it but what only leaves the region, with sums among
// devices on the way.
std::vector<bool> values_that_leave(const Program& program);

}  // namespace heddle
