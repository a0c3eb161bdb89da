// What was found for a cost-function network.
#pragma once

#include <string>

#include "heddle/solve.h"
#include "heddle/style.h"

namespace heddle {

struct SolveReport {
  Solution solution;
  double seconds = 0;
  // The most that the solution takes at a time, of the network's limit.
  std::int64_t peak = 0, limit = CostNetwork::kNoLimit;

  // The last line is the solution, as contests ask for it: [0,2,1].
  std::string text(const Style& style = Style::plain()) const;
  // One line.
  std::string json() const;
};

}  // namespace heddle
