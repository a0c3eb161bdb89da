#include <algorithm>

#include "parallel/pipeline/cut.h"

namespace heddle::pipeline {

namespace {

// Which stages a node may be on while all others stay.
class Bounds {
 public:
  explicit Bounds(const CutProblem& problem)
      : last_(problem.shape.virtual_stages() - 1),
        before_(problem.graph.nodes.size()),
        after_(problem.graph.nodes.size()) {
    for (const auto& [a, b] : problem.graph.constraints()) {
      before_[static_cast<std::size_t>(b)].push_back(a);
      after_[static_cast<std::size_t>(a)].push_back(b);
    }
  }

  bool allows(const Stages& stages, std::size_t node, int stage) const {
    if (stage < 0 || stage > last_) return false;
    const auto at = [&](int n) { return stages[static_cast<std::size_t>(n)]; };
    return std::ranges::all_of(before_[node], [&](int n) { return at(n) <= stage; }) &&
           std::ranges::all_of(after_[node], [&](int n) { return stage <= at(n); });
  }

 private:
  int last_;
  std::vector<std::vector<int>> before_, after_;
};

}  // namespace

void refine(const CutProblem& problem, const Judge& judge, Stages& stages, Worth& worth) {
  constexpr int kMostLooks = 4000;
  const Bounds bounds(problem);
  std::vector<int> members(static_cast<std::size_t>(problem.shape.virtual_stages()), 0);
  for (int s : stages) ++members[static_cast<std::size_t>(s)];
  int looks = 0;
  for (bool better = true; better && looks < kMostLooks;) {
    better = false;
    for (std::size_t n = 0; n < stages.size() && looks < kMostLooks; ++n)
      for (int step : {1, -1}) {
        const int from = stages[n], to = from + step;
        if (members[static_cast<std::size_t>(from)] == 1 || !bounds.allows(stages, n, to)) continue;
        stages[n] = to;
        ++looks;
        const Worth moved = judge.worth(stages);
        if (moved < worth) {
          worth = moved;
          better = true;
          --members[static_cast<std::size_t>(from)];
          ++members[static_cast<std::size_t>(to)];
        } else {
          stages[n] = from;
        }
      }
  }
}

}  // namespace heddle::pipeline
