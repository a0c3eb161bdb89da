#include "parallel/solver/likely.h"

#include <algorithm>

namespace heddle::solver {

std::vector<std::vector<int>> likely_values(const Core& core, const std::vector<double>& margins,
                                            const std::vector<int>& chosen, int for_each) {
  std::vector<double> sorted = margins;
  const auto most =
      std::min(sorted.size() - 1, static_cast<std::size_t>(for_each) * core.variables());
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(most),
                   sorted.end());
  const double limit = sorted[most];
  std::vector<std::vector<int>> kept(static_cast<std::size_t>(core.variables()));
  for (int v = 0; v < core.variables(); ++v)
    for (int x = 0; x < core.values(v); ++x) {
      const double margin = margins[core.start(v) + x];
      const bool is_chosen = !chosen.empty() && chosen[v] == x;
      if (margin < limit || margin <= 0 || is_chosen) kept[v].push_back(x);
    }
  return kept;
}

}  // namespace heddle::solver
