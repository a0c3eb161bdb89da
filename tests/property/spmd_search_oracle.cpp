// Searches of whole small programs, of up to 12 ops, beside the best plan there is: level 3 finds
// the cheapest, with a limit of memory and without, and no bound is above any plan that fits. Where
// plans are few, all of them are looked at.
#include "best_plan.h"
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

  // None: too many to look at.
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

  search::Cells& cells() { return cells_; }
  search::SplitLists& lists() { return lists_; }

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

// Programs with a known best plan, those with few enough plans to look at each, and those with many
// ops that have a choice.
int looked_at = 0, counted = 0, large = 0;

// As much as one plan takes, or somewhere between the least that any could take and the best.
std::int64_t some_limit(Choices& choices, const std::vector<EveryPlan::Plan>& plans,
                        BestPlan& best) {
  if (choices.below(3) == 0) return INT64_MAX;
  if (!plans.empty())
    return plans[static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(plans.size())))]
        .peak;
  const std::int64_t least = best.least_bytes(), free = best.within(INT64_MAX)->peak;
  return least + (free - least) * (1 + choices.below(8)) / 8;
}

void is_the_best(Choices& choices) {
  auto made = RandomProgram(Decisions(choices), {12, 40, false}).make();
  require(made.ok(), [&] { return made.reason(); });
  Program program = made->program;
  AxisSizes mesh{{"x", choices.pick({2, 4, 3})}};
  if (choices.below(3) == 0) mesh.emplace_back("y", 2);
  (void)program.add_mesh("mesh", mesh).value();
  std::vector<MeshAxis> axes = program.meshes[0].mesh.axes();
  for (MeshAxis& axis : axes)
    axis.link = {1e-9 * static_cast<double>(choices.below(3)),
                 1e9 * static_cast<double>(1 + choices.below(5))};
  program.meshes[0].mesh = Mesh::make(std::move(axes), 1e7, 1e8).value();
  EveryPlan every(program, {});
  BestPlan oracle(every.cells(), every.lists());
  if (!oracle.is_small() || !oracle.within(INT64_MAX)) return;
  const std::vector<EveryPlan::Plan> plans = every.all();
  SearchOptions options;
  options.recompute = 0;
  options.solve.level = 3;
  options.memory_limit = some_limit(choices, plans, oracle);
  const auto best = oracle.within(options.memory_limit);
  if (!oracle.is_small()) return;
  ++looked_at;
  const auto may_choose = [&](const Cell& cell) {
    return cell.kind == Cell::Kind::op && ways_of(cell, every.lists()) > 1;
  };
  large += std::ranges::count_if(every.cells().cells, may_choose) >= 8 ? 1 : 0;
  auto shown = [&](const std::string& what) { return what + "\n" + print_stablehlo(program); };
  if (!plans.empty()) {
    ++counted;
    CostNetwork::Cost least = CostNetwork::kForbidden;
    for (const EveryPlan::Plan& plan : plans)
      if (plan.peak <= options.memory_limit) least = std::min(least, plan.cost);
    require(best.has_value() && best->cost == least, [&] { return shown("the oracle is wrong"); });
  }
  RuleCache rules(program);
  const auto found = search_plan(program, program.functions[0], rules, {}, options);
  require(found.ok() == best.has_value(),
          [&] { return shown(found.ok() ? "a plan that cannot be" : found.reason()); });
  if (!found) return;
  const double least = search::seconds_of_cost(best->cost);
  require(found->held_bytes <= options.memory_limit, [&] { return shown("it does not fit"); });
  require(found->bound <= least * (1 + 1e-12), [&] {
    return shown(fmt::format("bound {} is above a plan of {}", found->bound, least));
  });
  require(found->cost >= least * (1 - 1e-12) && found->cost <= least * (1 + 2e-5),
          [&] { return shown(fmt::format("found {}, the best is {}", found->cost, least)); });
}

TEST(SearchOracle, Level3IsTheBestOfAllPlans) {
  looked_at = counted = large = 0;
  run_law(is_the_best, 0, {.cases = 1500, .seed = kSeed, .decisions = 1600});
  EXPECT_GE(looked_at, 1000);
  EXPECT_GE(counted, 500);
  EXPECT_GE(large, 200);
}

}  // namespace
}  // namespace heddle::property
