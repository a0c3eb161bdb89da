#include <gtest/gtest.h>

#include <random>

#include "parallel/solver/cases.h"

namespace heddle::solver {
namespace {

using Costs = std::vector<Cost>;

constexpr auto kGoesOn = [] { return false; };

Dual settled(const Core& core) {
  Dual dual(core);
  for (int i = 0; i < 200; ++i) dual.step(200);
  return dual;
}

// Both of them cheap take 60 of 50.
Model two_large_ones() {
  Model model;
  model.room = {50};
  model.variables.push_back({Costs{0, 100}, {{0, 1, {40, 0}}}});
  model.variables.push_back({Costs{0, 30}, {{0, 1, {20, 0}}}});
  return model;
}

TEST(Cases, KnowThatNothingTakesALittleOfTwoAssignments) {
  const Model model = two_large_ones();
  const Core core(model);
  const Dual dual = settled(core);
  EXPECT_LE(dual.bound(), 15.001);  // half of the second one
  Cases cases(core, dual);
  cases.run(200, 0, 1e6, kGoesOn);
  EXPECT_GE(cases.bound(), 30 - 1e-6);
  EXPECT_EQ(cases.best_cost(), 30);
  EXPECT_EQ(cases.best(), (std::vector<int>{0, 1}));
}

TEST(Cases, SayWhereNothingFits) {
  Model model = two_large_ones();
  model.variables[1].pieces[0].amounts = {60, 51};
  const Core core(model);
  Cases cases(core, settled(core));
  cases.run(kInfinite, 0, 1e6, kGoesOn);
  EXPECT_GE(cases.bound(), kInfinite);
  EXPECT_TRUE(cases.best().empty());
}

Model random_model(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<Cost>(random() % n); };
  Model model;
  model.room = {60, 50};
  for (int v = 0; v < 5; ++v) {
    Variable& variable = model.variables.emplace_back();
    for (int x = 0; x < 3; ++x) variable.costs.push_back(below(50));
    const int begin = v % 2;
    variable.pieces.push_back({begin, 2, {below(40), below(20), 0}});
    for (int u = 0; u < v; ++u) {
      Costs table;
      for (int i = 0; i < 9; ++i) table.push_back(below(8) == 0 ? kForbidden : below(30));
      if (below(2) == 0) model.pairs.push_back({u, v, table});
    }
  }
  return model;
}

double least_by_all(const Core& core) {
  double least = kInfinite;
  for (int number = 0; number < 243; ++number) {
    std::vector<int> chosen;
    for (int v = 0, rest = number; v < 5; ++v, rest /= 3) chosen.push_back(rest % 3);
    const auto taken = core.taken_by(chosen);
    if (taken[0] <= core.room()[0] && taken[1] <= core.room()[1])
      least = std::min(least, core.cost_of(chosen));
  }
  return least;
}

TEST(Cases, HaveNoBoundAboveTheBest) {
  std::mt19937 random(5);
  for (int i = 0; i < 60; ++i) {
    const Model model = random_model(random);
    const Core core(model);
    double least = least_by_all(core);
    Cases cases(core, settled(core));
    cases.run(200, 0, 1e5, kGoesOn);
    least = std::min(least, 200.0);
    EXPECT_LE(std::min(cases.bound(), cases.best_cost()), least + 1e-6) << i;
    EXPECT_GE(cases.best_cost(), least) << i;
    if (!cases.best().empty()) {
      EXPECT_EQ(core.cost_of(cases.best()), cases.best_cost());
    }
  }
}

}  // namespace
}  // namespace heddle::solver
