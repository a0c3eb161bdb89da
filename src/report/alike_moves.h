// Communications of a plan that are alike, as one.
#pragma once

#include "heddle/plan_report.h"

namespace heddle::report {

struct AlikeMoves {
  const PlannedFunction::Moved* first = nullptr;
  std::size_t count = 0;  // with as often as each comes in a step
  double seconds = 0;     // of all of them
};

// The same move of equal values for ops of one kind, on one stage; the dearest first.
std::vector<AlikeMoves> alike_moves(const std::vector<PlannedFunction::Moved>& moved);

}  // namespace heddle::report
