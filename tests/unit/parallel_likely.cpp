#include <gtest/gtest.h>

#include "heddle/cost_network.h"
#include "parallel/solver/likely.h"
#include "parallel/solver/reduce.h"

namespace heddle::solver {
namespace {

using Costs = std::vector<Cost>;

// A ring of five, so that nothing can be eliminated until values are gone.
Model ring() {
  Model model;
  for (int v = 0; v < 5; ++v) model.variables.push_back({Costs{4, 1, 3}, {}});
  const Costs table{0, 9, 5, 9, 0, 2, 5, 2, 7};
  for (int v = 0; v + 1 < 5; ++v) model.pairs.push_back({v, v + 1, table});
  model.pairs.push_back({0, 4, table});
  return model;
}

TEST(Likely, KeepsTheLeastMarginsAndWhatIsChosen) {
  const Model model = ring();
  const Core core(model);
  const std::vector<double> margins{0, 5, 9, 0, 1, 9, 9, 0, 9, 0, 9, 9, 2, 0, 9};
  const std::vector<std::vector<int>> kept = likely_values(core, margins, {2, 0, 1, 0, 1}, 1);
  const std::vector<std::vector<int>> expected{{0, 2}, {0}, {1}, {0}, {1}};
  EXPECT_EQ(kept, expected);
}

TEST(Likely, APartOfTheValuesUnfoldsToNumbersOfTheModel) {
  const Model model = ring();
  const auto part =
      Reduction::of(model, {{1, 2}, {2}, {0, 2}, {1}, {1, 2}}, [] { return false; }).value();
  const std::vector<int> values = part.unfold(std::vector<int>(part.model().variables.size(), 0));
  ASSERT_EQ(values.size(), 5U);
  EXPECT_EQ(values[1], 2);
  EXPECT_EQ(values[3], 1);
  EXPECT_NE(values[0], 0);
  EXPECT_NE(values[2], 1);
  // What is left is a chain around two that are known: nothing is open, and it is the best.
  EXPECT_TRUE(part.model().variables.empty());
  double best = kInfinite;
  const Core core(model);
  for (const int a : {1, 2})
    for (const int c : {0, 2})
      for (const int e : {1, 2})
        best = std::min(best, core.cost_of(std::vector<int>{a, 2, c, 1, e}));
  EXPECT_EQ(static_cast<double>(part.model().constant), best);
  EXPECT_EQ(core.cost_of(values), best);
}

}  // namespace
}  // namespace heddle::solver
