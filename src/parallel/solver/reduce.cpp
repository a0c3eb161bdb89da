#include "parallel/solver/reduce.h"

#include <algorithm>

#include "parallel/solver/reducer.h"

namespace heddle::solver {
Expected<Reduction> Reduction::of(const CostNetwork& network, std::function<bool()> stop) {
  return Reducer(network, std::move(stop)).run();
}

Expected<Reduction> Reduction::of(const Model& model, const std::vector<std::vector<int>>& kept,
                                  std::function<bool()> stop) {
  return Reducer(model, kept, std::move(stop)).run();
}

std::vector<int> Reduction::unfold(const std::vector<int>& chosen) const {
  std::vector<int> values(variables_, -1);
  for (std::size_t i = 0; i < kept_.size(); ++i) values[kept_[i]] = values_[i][chosen[i]];
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    std::size_t at = step->first < 0 ? 0 : values[step->first];
    if (step->second >= 0) at = at * step->columns + values[step->second];
    values[step->variable] = step->values[at];
  }
  return values;
}

}  // namespace heddle::solver
