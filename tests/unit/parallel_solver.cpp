#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "base/plain_math.h"
#include "heddle/cost_network_file.h"
#include "heddle/solve.h"
#include "parallel/solver/cbc.h"
#include "parallel/solver/reduce.h"
#include "parallel/solver/trws.h"

namespace heddle {
namespace {

using ::testing::ElementsAre;
using Costs = std::vector<CostNetwork::Cost>;
constexpr CostNetwork::Cost kNever = CostNetwork::kForbidden;

// A ring of variables whose neighbours would rather differ, with memory that not all can have.
CostNetwork ring(int count, int values) {
  CostNetwork network;
  for (int v = 0; v < count; ++v) {
    Costs costs, amounts;
    for (int x = 0; x < values; ++x) {
      costs.push_back((v * 7 + x * 13) % 17);
      amounts.push_back((values - x) * 3 + (v % 2));
    }
    network.add_variable(costs);
    network.add_usage(v, {v, v + count / 2}, amounts);
  }
  for (int v = 0; v < count; ++v) {
    Costs table;
    for (int x = 0; x < values * values; ++x)
      table.push_back(x / values == x % values ? 40 : (x * 31 + v * 11) % 23);
    network.add_edge(v, (v + 1) % count, table);
    network.add_edge(v, (v + 5) % count, table);
  }
  network.set_limit(count * values);
  return network;
}

TEST(CostNetwork, CostAndPeakOfAnAssignment) {
  CostNetwork network;
  network.add_variable(Costs{1, 5});
  network.add_variable(Costs{0, 3, kNever});
  network.add_edge(0, 1, Costs{10, 20, 30, 40, kNever, 60});
  network.add_usage(0, {0, 4}, Costs{10, 4});
  network.add_usage(1, {3, 6}, Costs{9, 5, 1});
  network.add_usage(1, {6, 7}, Costs{11, 30, 1});
  network.set_limit(20);
  EXPECT_EQ(network.cost_of(std::vector{0, 1}), 1 + 3 + 20);
  EXPECT_EQ(network.cost_of(std::vector{1, 1}), kNever);
  EXPECT_EQ(network.peak_of(std::vector{0, 0}), 19);
  EXPECT_EQ(network.peak_of(std::vector{0, 1}), 30);
  EXPECT_TRUE(network.check(std::vector{0, 0}));
  EXPECT_EQ(network.check(std::vector{0, 1}).reason(), "30 is taken at a time, the limit is 20");
  EXPECT_FALSE(network.check(std::vector{0, 3}));
  EXPECT_FALSE(network.check(std::vector{0}));
}

TEST(CostNetwork, LifetimesAreHalfOpen) {
  CostNetwork network;
  for (int v = 0; v < 2; ++v) network.add_variable(Costs{0});
  network.add_usage(0, {0, 3}, Costs{5});
  network.add_usage(1, {3, 6}, Costs{6});
  EXPECT_EQ(network.peak_of(std::vector{0, 0}), 6);
}

TEST(CostNetwork, EqualTablesAreKeptOnce) {
  const CostNetwork network = ring(12, 3);
  EXPECT_EQ(network.edges().size(), 24U);
  EXPECT_EQ(network.tables(), 12);
}

TEST(CostNetworkFile, ReadsInAnyOrder) {
  const CostNetwork network = parse_cost_network(R"({"name": "x", "problem": {"usage_limit": 1e2,
    "edges": {"costs": [[0, 1000000000000000000]], "nodes": [[0, 1]]},
    "nodes": {"usages": [[1], [2, 3]], "costs": [[4], [5, 6]], "intervals": [[0, 2], [7, 7]]}}})")
                                  .value();
  EXPECT_EQ(network.limit(), 100);
  EXPECT_THAT(network.costs(1), ElementsAre(5, 6));
  EXPECT_THAT(network.table(0), ElementsAre(0, kNever));
  // What lives at no time takes nothing.
  EXPECT_EQ(network.usages().size(), 1U);
}

TEST(Reduction, FunctionsAndLeavesGoAway) {
  CostNetwork network;
  for (int v = 0; v < 6; ++v) network.add_variable(Costs{v, 1, 2});
  // Each variable has the value of the one before it, moved by one.
  for (int v = 0; v + 1 < 6; ++v)
    network.add_edge(v, v + 1, Costs{kNever, 1, kNever, kNever, kNever, 2, 3, kNever, kNever});
  const auto reduction = solver::Reduction::of(network).value();
  EXPECT_TRUE(reduction.model().variables.empty());
  const std::vector<int> values = reduction.unfold({});
  EXPECT_EQ(network.cost_of(values), reduction.model().constant);
}

TEST(Reduction, TimesThatOthersImplyGoAway) {
  CostNetwork network;
  for (int v = 0; v < 20; ++v) {
    network.add_variable(Costs{3, 2, 1, 0});
    network.add_usage(v, {v, 40 - v}, Costs{1, 2, 3, 5});
  }
  // In the middle all are alive.
  network.set_limit(40);
  const auto reduction = solver::Reduction::of(network).value();
  EXPECT_EQ(reduction.model().room.size(), 1U);
}

TEST(Trws, BoundOfATreeIsExact) {
  CostNetwork network;
  for (int v = 0; v < 8; ++v) network.add_variable(Costs{v % 3, 2, (v * 5) % 7});
  for (int v = 1; v < 8; ++v) {
    Costs table;
    for (int x = 0; x < 9; ++x) table.push_back((x * x * 7 + v * 3) % 11);
    network.add_edge(v / 2, v, table);
    network.add_usage(v, {0, 1}, Costs{1, 2, 3});
  }
  network.set_limit(30);
  solver::Model model;
  for (int v = 0; v < 8; ++v)
    model.variables.push_back({{network.costs(v).begin(), network.costs(v).end()}, {}});
  for (const auto& edge : network.edges()) {
    const auto table = network.table(edge.table);
    model.pairs.push_back({edge.first, edge.second, {table.begin(), table.end()}});
  }
  const solver::Core core(model);
  solver::Trws trws(core);
  const std::vector<double> costs = solver::priced_costs(core, {});
  double bound = 0;
  for (int i = 0; i < 30; ++i) bound = trws.pass(costs);
  const std::vector<int> found = trws.decode(costs);
  EXPECT_DOUBLE_EQ(bound, core.cost_of(found));
}

TEST(Trws, RoundedTablesGiveABoundThatIsALittleLower) {
  // Numbers that floats do not have.
  constexpr CostNetwork::Cost kLarge = (CostNetwork::Cost{1} << 40) + 1,
                              kSome = 123'456'789'012'347;
  solver::Model model;
  for (int v = 0; v < 6; ++v) model.variables.push_back({Costs{v + kLarge, kLarge / (v + 2)}, {}});
  for (int v = 1; v < 6; ++v)
    model.pairs.push_back({v - 1, v, Costs{kSome / 7, kSome / 3 + v, kSome / 5 - v, kSome / 11}});
  const solver::Core core(model);
  const std::vector<double> costs = solver::priced_costs(core, {});
  solver::Trws exact(core), rounded(core, solver::Tables::rounded);
  double bound = 0, lower = 0;
  for (int i = 0; i < 10; ++i) bound = exact.pass(costs), lower = rounded.pass(costs);
  EXPECT_LT(lower, bound);
  EXPECT_GT(lower, bound * (1 - 1e-6));
}

TEST(PlainMath, IsRightToTenDigits) {
  for (const double x : {1e-9, 0.3, 0.7071, 1.0, 1.5, 10.0, 7.3e29}) {
    EXPECT_NEAR(plain_log(x), std::log(x), 1e-10 * (1 + std::abs(std::log(x))));
    EXPECT_NEAR(plain_exp(plain_log(x)) / x, 1, 1e-9);
  }
  EXPECT_NEAR(plain_power(1000, 0.25), std::pow(1000, 0.25), 1e-8);
  EXPECT_EQ(plain_log(1), 0);
}

TEST(Solve, NothingAtAll) {
  const Solution solution = solve(CostNetwork()).value();
  EXPECT_TRUE(solution.values.empty());
  EXPECT_TRUE(solution.is_optimal());
}

TEST(Solve, LevelThreeProves) {
  const CostNetwork network = ring(18, 4);
  SolveOptions options;
  options.level = 3;
  const Solution solution = solve(network, options).value();
  EXPECT_TRUE(solution.is_optimal());
  EXPECT_EQ(solution.gap(), 0);
  EXPECT_TRUE(network.check(solution.values));
  EXPECT_EQ(network.cost_of(solution.values), solution.cost);
}

TEST(Solve, LevelTwoIsTheSameEveryTime) {
  const CostNetwork network = ring(60, 6);
  SolveOptions options;
  const Solution first = solve(network, options).value();
  options.threads = 1;
  const Solution second = solve(network, options).value();
  EXPECT_EQ(first.values, second.values);
  EXPECT_EQ(first.bound, second.bound);
  EXPECT_LE(first.bound, first.cost);
}

// Who has no use for what costs as much as the bound has the search end there; who has is not
// disturbed.
TEST(Solve, EndsWhereNothingIsOfUse) {
  const CostNetwork network = ring(60, 6);
  const Solution whole = solve(network).value();
  CostNetwork::Cost largest = 0;
  SolveOptions options;
  options.is_of_no_use = [&](CostNetwork::Cost bound) {
    largest = std::max(largest, bound);
    return false;
  };
  EXPECT_EQ(solve(network, options).value().values, whole.values);
  EXPECT_GT(largest, 0);
  EXPECT_LE(largest, whole.cost);
  options.level = 3;  // would go on until it is proved
  options.is_of_no_use = [](CostNetwork::Cost) { return true; };
  const auto less = solve(network, options);
  EXPECT_TRUE(!less || less->bound < less->cost);
}

// Whoever stops it before it has begun has something all the same, where that is a matter of
// moments.
TEST(Solve, StoppedAtOnceHasAnAnswer) {
  CostNetwork network = ring(60, 6);
  network.set_limit(CostNetwork::kNoLimit);
  std::stop_source stop;
  stop.request_stop();
  SolveOptions options;
  options.stop = stop.get_token();
  const Solution solution = solve(network, options).value();
  EXPECT_TRUE(network.check(solution.values));
  EXPECT_LE(solution.bound, solution.cost);
}

TEST(Solve, LessMemoryNeverCostsLess) {
  CostNetwork network = ring(14, 4);
  SolveOptions options;
  options.level = 3;
  CostNetwork::Cost last = 0;
  for (const std::int64_t limit : {90, 70, 56, 50}) {
    network.set_limit(limit);
    const auto solution = solve(network, options);
    if (!solution) break;
    EXPECT_GE(solution->cost, last);
    last = solution->cost;
  }
  EXPECT_GT(last, 0);
}

// An integer program of another make, where it is there, says the same.
TEST(Solve, AgreesWithCbc) {
  if (!solver::has_cbc()) GTEST_SKIP() << "libCbcSolver.so.3 is not there";
  SolveOptions options;
  options.level = 3;
  int compared = 0;
  for (const auto& [count, values, limit] :
       {std::tuple(14, 3, 60), std::tuple(16, 4, 60), std::tuple(20, 3, 70), std::tuple(24, 4, 96),
        std::tuple(30, 3, 90)}) {
    CostNetwork network = ring(count, values);
    network.set_limit(limit);
    const auto reduction = solver::Reduction::of(network);
    const auto solution = solve(network, options);
    if (!reduction) {
      EXPECT_FALSE(solution);
      continue;
    }
    const solver::CbcAnswer answer = solver::solve_by_cbc(reduction->model(), 60);
    ASSERT_TRUE(answer.is_proved);
    ASSERT_EQ(answer.chosen.has_value(), solution.ok());
    if (!solution) continue;
    const std::vector<int> theirs = reduction->unfold(*answer.chosen);
    EXPECT_TRUE(network.check(theirs));
    EXPECT_EQ(network.cost_of(theirs), solution->cost);
    EXPECT_TRUE(solution->is_optimal());
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

TEST(Solve, StopsWhenTold) {
  const CostNetwork network = ring(400, 12);
  SolveOptions options;
  options.level = 3;
  std::stop_source stop;
  options.stop = stop.get_token();
  int told = 0;
  options.on_progress = [&](const SolveProgress& progress) {
    EXPECT_LE(progress.bound, progress.cost);
    if (++told == 3) stop.request_stop();
  };
  const Solution solution = solve(network, options).value();
  EXPECT_EQ(told, 3);
  EXPECT_LE(solution.bound, solution.cost);
}

}  // namespace
}  // namespace heddle
