// Searches of whole small programs beside a look at every plan there is: level 3 finds the
// cheapest, with a limit of memory and without, and no bound is above any plan that fits.
#include "choices.h"
#include "heddle/search.h"
#include "heddle/stablehlo.h"
#include "parallel/search/classes.h"
#include "parallel/search/network.h"
#include "random_mesh.h"
#include "random_program.h"

namespace heddle::property {
namespace {

using search::Cell;

// Every plan of a function, with its cost and the memory that it takes, summed up by themselves.
class EveryPlan {
 public:
  struct Plan {
    CostNetwork::Cost cost;
    std::int64_t peak;
  };
  static constexpr double kMost = 20'000;

  EveryPlan(const Program& program, const std::vector<Carried>& carried)
      : rules_(program), on_(program, rules_, program.meshes[0]), lists_(on_), ways_(on_, lists_) {
    const Function& f = program.functions[0];
    search::Wanted wanted;
    wanted.arguments.assign(program.region(f.body).args.size(), -1);
    wanted.results.assign(f.results.size(), -1);
    wanted.carried = carried;
    cells_ = search::cells_of(on_, lists_, ways_, f, wanted).value();
  }

  // 0: too many to look at.
  std::vector<Plan> all() {
    double count = 1;
    for (const Cell& cell : cells_.cells) count *= static_cast<double>(ways_of(cell, lists_));
    if (count > kMost) return {};
    std::vector<Plan> found;
    std::vector<int> chosen(cells_.cells.size(), 0);
    do {
      if (const CostNetwork::Cost cost = cost_of(chosen); cost != CostNetwork::kForbidden)
        found.push_back({cost, search::peak_of(cells_, chosen, lists_).bytes});
    } while (next(chosen));
    return found;
  }

 private:
  bool next(std::vector<int>& chosen) {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (++chosen[i] < static_cast<int>(ways_of(cells_.cells[i], lists_))) return true;
      chosen[i] = 0;
    }
    return false;
  }

  static CostNetwork::Cost times(CostNetwork::Cost cost, double count) {
    return static_cast<CostNetwork::Cost>(std::llround(static_cast<double>(cost) * count));
  }

  CostNetwork::Cost cost_of(const std::vector<int>& chosen) {
    CostNetwork::Cost sum = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const Cell& cell = cells_.cells[i];
      const auto way = static_cast<std::size_t>(chosen[i]);
      if (cell.strategies != nullptr) sum += times(cell.strategies->costs[way], cell.times);
      if (!cell.more.empty()) sum += cell.more[way];
    }
    for (const search::Bring& bring : cells_.brings) {
      const auto from = static_cast<std::size_t>(chosen[static_cast<std::size_t>(bring.from)]),
                 to = static_cast<std::size_t>(chosen[static_cast<std::size_t>(bring.to)]);
      const CostNetwork::Cost move = lists_.moves(
          bring.from_list, bring.to_list, bring.type)[from * lists_[bring.to_list].size() + to];
      if (move == CostNetwork::kForbidden) return move;
      // Where it is waited for late, what runs beside it does not count.
      sum += times(std::max<CostNetwork::Cost>(0, move - bring.hidden), bring.times);
    }
    return sum;
  }

  RuleCache rules_;
  OnMesh on_;
  search::SplitLists lists_;
  search::StrategyTable ways_;
  search::Cells cells_;
};

int looked_at = 0;  // programs whose plans are few enough

void is_the_best(Choices& choices) {
  auto made = RandomProgram(Decisions(choices), {5, 40, false}).make();
  require(made.ok(), [&] { return made.reason(); });
  Program program = made->program;
  (void)program.add_mesh("mesh", {{"x", choices.pick({2, 4, 3})}}).value();
  std::vector<MeshAxis> axes = program.meshes[0].mesh.axes();
  axes[0].link = {1e-9 * static_cast<double>(choices.below(3)),
                  1e9 * static_cast<double>(1 + choices.below(5))};
  program.meshes[0].mesh = Mesh::make(std::move(axes), 1e7, 1e8).value();
  const std::vector<EveryPlan::Plan> plans = EveryPlan(program, {}).all();
  if (plans.empty()) return;
  ++looked_at;
  PropagateOptions how;
  SearchOptions options;
  options.recompute = 0;
  options.solve.level = 3;
  // As much as one of them takes.
  if (choices.below(3) > 0)
    options.memory_limit =
        plans[static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(plans.size())))]
            .peak;
  CostNetwork::Cost best = CostNetwork::kForbidden;
  for (const EveryPlan::Plan& plan : plans)
    if (plan.peak <= options.memory_limit) best = std::min(best, plan.cost);
  RuleCache rules(program);
  const auto found = search_plan(program, program.functions[0], rules, how, options);
  auto shown = [&](const std::string& what) { return what + "\n" + print_stablehlo(program); };
  require(found.ok(), [&] { return shown(found.reason()); });
  const double least = search::seconds_of_cost(best);
  require(found->held_bytes <= options.memory_limit, [&] { return shown("it does not fit"); });
  require(found->bound <= least * (1 + 1e-12), [&] {
    return shown(fmt::format("bound {} is above a plan of {}", found->bound, least));
  });
  require(found->cost >= least * (1 - 1e-12) && found->cost <= least * (1 + 2e-5),
          [&] { return shown(fmt::format("found {}, the best is {}", found->cost, least)); });
}

TEST(SearchOracle, Level3IsTheBestOfAllPlans) {
  looked_at = 0;
  run_law(is_the_best, 0, {.cases = 250, .seed = kSeed, .decisions = 800});
  EXPECT_GE(looked_at, 60);
}

}  // namespace
}  // namespace heddle::property
