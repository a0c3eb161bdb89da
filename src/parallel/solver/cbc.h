// The same problem as an integer program, for CBC, where its library is on the machine.
#pragma once

#include <optional>

#include "parallel/solver/model.h"

namespace heddle::solver {

bool has_cbc();

struct CbcAnswer {
  bool is_proved = false;                  // that it is the best, or that there is none
  std::optional<std::vector<int>> chosen;  // a value of each variable
};
// Only where has_cbc(). Costs are rounded where they are very large: what comes has to be checked.
CbcAnswer solve_by_cbc(const Model& model, double seconds);

}  // namespace heddle::solver
