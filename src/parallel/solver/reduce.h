// Exact reductions: what is left has an optimum that unfolds to one of the whole network.
#pragma once

#include <functional>

#include "parallel/solver/model.h"

namespace heddle::solver {

class Reduction {
 public:
  // A reason where no assignment is allowed, or none fits.
  static Expected<Reduction> of(
      const CostNetwork& network, std::function<bool()> stop = [] { return false; });

  // The same of a model, with these values of its variables alone. Numbers of values stay those of
  // the model.
  static Expected<Reduction> of(const Model& model, const std::vector<std::vector<int>>& kept,
                                std::function<bool()> stop);

  const Model& model() const { return model_; }
  // Values of all variables of the network from those of the model.
  std::vector<int> unfold(const std::vector<int>& chosen) const;

 private:
  friend class Reducer;
  // How a variable that is gone follows from one or two others; `values` by theirs.
  struct Step {
    int variable = 0, first = -1, second = -1;
    int columns = 1;
    std::vector<int> values;
  };
  Model model_;
  std::vector<Step> steps_;
  std::vector<int> kept_;                 // the network's variable of each of the model's
  std::vector<std::vector<int>> values_;  // and the network's value of each of its values
  int variables_ = 0;
};

}  // namespace heddle::solver
