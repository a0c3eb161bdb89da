// From a program to the cheapest plan: cells, classes, a network, and its solution as layouts.
#include "heddle/search.h"

#include <algorithm>
#include <chrono>

#include "heddle/op.h"
#include "parallel/search/classes.h"
#include "parallel/search/details.h"
#include "parallel/search/network.h"
#include "parallel/search/room.h"
#include "parallel/seeds.h"

namespace heddle {

namespace {

using search::Cell;
using search::Cells;

// What somebody said of arguments and results.
Expected<search::Wanted> wanted_of(OnMesh& on, const Function& function,
                                   const PropagateOptions& options) {
  const Program& program = on.program;
  HEDDLE_TRY(const Seeds seeds, seeds_of(program, function, options));
  search::Wanted wanted;
  wanted.carried = options.carried;
  const std::vector<ValueId>& args = program.region(function.body).args;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const State& state = seeds.states[args[i]];
    const bool said = options.closed_boundary || program.layout_of(args[i]) != nullptr ||
                      std::ranges::any_of(options.seeds, [&](const Seed& s) {
                        return !s.is_result && s.index == i;
                      });
    wanted.arguments.push_back(
        said && program.type_of(args[i]).is_tensor() ? on.split_id(state.later) : -1);
  }
  for (std::size_t i = 0; i < function.results.size(); ++i) {
    const auto& said = seeds.results[i];
    wanted.results.push_back(said ? on.split_id(*said)
                             : options.closed_boundary &&
                                     program.type(function.results[i]).is_tensor()
                                 ? on.split_id(Split::whole(program.type(function.results[i])))
                                 : -1);
  }
  return wanted;
}

// Nobody sees the difference, and a proof of the last digits may take long.
SolveOptions near_enough(SolveOptions options) {
  constexpr double kNear = 1e-5;
  options.gap = std::max(options.gap, kNear);
  return options;
}

class Searcher {
 public:
  Searcher(const Program& program, const Function& function, RuleCache& rules,
           const PropagateOptions& options, const SearchOptions& how)
      : program_(program),
        function_(function),
        options_(options),
        how_(how),
        on_(program, rules, program.meshes[options.mesh]),
        lists_(on_),
        table_(on_, lists_) {}

  Expected<FoundPlan> run() {
    const auto begun = std::chrono::steady_clock::now();
    HEDDLE_TRY(wanted_, wanted_of(on_, function_, options_));
    HEDDLE_TRY(cells_, search::cells_of(on_, lists_, table_, function_, wanted_));
    HEDDLE_TRY_VOID(search::has_room(cells_, lists_, program_, how_.memory_limit));
    classes_ = search::classes_of(cells_);
    if (!fits_wish()) HEDDLE_TRY_VOID(solve_within(how_.memory_limit));
    // Every plan has it.
    const double start = on_.mesh.mesh.device().start;
    found_.cost += start;
    found_.bound += start;
    write_layouts();
    if (how_.details)
      found_.details = search::details_of(on_, lists_, cells_, classes_, ways_, found_.cost);
    found_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return std::move(found_);
  }

 private:
  // Whether there is a plan that takes no more than one would like.
  bool fits_wish() {
    const std::int64_t wish = std::min(how_.memory_wish, how_.memory_limit);
    return wish < how_.memory_limit && search::has_room(cells_, lists_, program_, wish) &&
           solve_within(wish);
  }

  // Times at which a plan turns out to take too much are looked at in the next round.
  Verdict solve_within(std::int64_t limit) {
    constexpr int kRounds = 8;
    search::NetworkOptions options{limit, {}};
    if (limit != INT64_MAX) options.times = search::busy_times(cells_, program_);
    for (int round = 0;; ++round) {
      const CostNetwork network = search::network_of(cells_, classes_, lists_, options);
      HEDDLE_TRY(const Solution solution, solve(network, near_enough(how_.solve)));
      ways_.clear();
      for (int c : classes_) ways_.push_back(solution.values[static_cast<std::size_t>(c)]);
      const search::Peak peak = search::peak_of(cells_, ways_, lists_);
      found_.cost = search::seconds_of_cost(solution.cost);
      found_.bound = search::seconds_of_cost(std::min(solution.bound, solution.cost));
      found_.peak_bytes = peak.bytes;
      found_.cells = cells_.cells.size();
      found_.variables = static_cast<std::size_t>(network.variables());
      if (peak.bytes <= limit) return yes();
      if (round == kRounds)
        return reason("no plan was found that takes at most {} bytes of a device: the best has {}",
                      limit, peak.bytes);
      options.times.push_back(peak.time);
      std::ranges::sort(options.times);
    }
  }

  // ---- the solution as layouts

  int split_of(ValueId v) const {
    const auto [cell, list] = cells_.lies[v];
    return list < 0 ? -1
                    : lists_[list][static_cast<std::size_t>(ways_[static_cast<std::size_t>(cell)])];
  }

  void write_layouts() {
    Propagation& layouts = found_.layouts;
    layouts.splits.resize(program_.value_count());
    for (ValueId v = 0; v < program_.value_count(); ++v) {
      if (!program_.type_of(v).is_tensor()) continue;
      const int split = split_of(v);
      layouts.splits[v] = split < 0 ? Split::whole(program_.type_of(v))
                                    : on_.splits[search::complete_split(on_, split)];
    }
    layouts.chosen.resize(program_.op_count());
    for (OpId id = 0; id < program_.op_count(); ++id)
      if (const int cell = cells_.of_op[id]; cell >= 0)
        layouts.chosen[id] =
            cells_.cells[static_cast<std::size_t>(cell)]
                .strategies->ways[static_cast<std::size_t>(ways_[static_cast<std::size_t>(cell)])];
    const Op& end = program_.op(program_.region(function_.body).ops.back());
    const auto returned = program_.operands(end);
    for (std::size_t i = 0; i < returned.size(); ++i)
      layouts.results.push_back(result_split(i, returned[i]));
  }

  Split result_split(std::size_t i, ValueId returned) const {
    const std::vector<ValueId>& args = program_.region(function_.body).args;
    for (const Carried& c : options_.carried)
      if (c.result == i) return found_.layouts.splits[args[c.argument]];
    if (wanted_.results[i] >= 0) return on_.splits[wanted_.results[i]];
    return found_.layouts.splits[returned];
  }

  const Program& program_;
  const Function& function_;
  const PropagateOptions& options_;
  const SearchOptions& how_;
  OnMesh on_;
  search::SplitLists lists_;
  search::StrategyTable table_;
  search::Wanted wanted_;
  Cells cells_;
  std::vector<int> classes_;
  std::vector<int> ways_;  // by cell
  FoundPlan found_;
};

}  // namespace

Expected<FoundPlan> search_plan(const Program& program, const Function& function, RuleCache& rules,
                                const PropagateOptions& options, const SearchOptions& how) {
  return Searcher(program, function, rules, options, how).run();
}

}  // namespace heddle
