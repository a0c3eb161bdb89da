// From a program to the cheapest plan: cells, classes, a network, and its solution as layouts.
#include "heddle/search.h"

#include <algorithm>
#include <chrono>

#include "heddle/log.h"
#include "heddle/op.h"
#include "parallel/search/classes.h"
#include "parallel/search/copies.h"
#include "parallel/search/details.h"
#include "parallel/search/network.h"
#include "parallel/search/op_seconds.h"
#include "parallel/search/recompute.h"
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
SolveOptions near_enough(SolveOptions options, const CostNetwork& network) {
  constexpr double kNear = 1e-5, kNearOfMany = 9e-3;
  constexpr int kMany = 1500;
  const bool quick = options.level == 2 && network.variables() >= kMany;
  options.gap = std::max(options.gap, quick ? kNearOfMany : kNear);
  return options;
}

// What all functions of a program share that a plan is searched for.
struct Tables {
  Tables(const Program& program, RuleCache& rules, const MeshDecl& mesh)
      : on(program, rules, mesh), lists(on), ways(on, lists) {}
  OnMesh on;
  search::SplitLists lists;
  search::StrategyTable ways;
};

// The search for a plan of one function.
class Searcher {
 public:
  static Expected<std::unique_ptr<Searcher>> make(Tables& tables, const Function& function,
                                                  const search::Wanted& wanted) {
    std::unique_ptr<Searcher> made(new Searcher(tables, function, wanted));
    HEDDLE_TRY(made->cells_,
               search::cells_of(tables.on, tables.lists, tables.ways, function, made->wanted_));
    made->classes_ = search::classes_of(made->cells_);
    return made;
  }

  Verdict has_room(std::int64_t limit) {
    return search::has_room(cells_, tables_.lists, program_, limit);
  }

  // The best plan whatever it takes, and whether that is at most `limit`.
  Expected<bool> solve_freely(std::int64_t limit, const SolveOptions& how) {
    HEDDLE_TRY_VOID(solve_at(INT64_MAX, {}, how));
    is_tight_ = false;
    free_bound_ = bound_;
    return found_.held_bytes <= limit;
  }

  // Times at which a plan turns out to take too much, beyond so many bytes that do no harm, are
  // looked at in the next round.
  Verdict solve_within(std::int64_t limit, std::int64_t harmless, const SolveOptions& how) {
    constexpr int kRounds = 8;
    // No round can find less than those before it, which knew less, or nothing of memory.
    SolveOptions known = how;
    known.bound = free_bound_;
    std::vector<std::int64_t> times = search::busy_times(cells_, tables_.lists, program_);
    for (int round = 0;; ++round) {
      HEDDLE_TRY(const std::int64_t fullest, solve_at(limit, times, known));
      is_tight_ = true;
      known.bound = std::max(known.bound, bound_);
      if (found_.held_bytes - harmless <= limit) return yes();
      if (round == kRounds)
        return reason("no plan was found that takes at most {} bytes of a device: the best has {}",
                      limit, found_.held_bytes);
      times.insert(std::ranges::lower_bound(times, fullest), fullest);
    }
  }

  const FoundPlan& found() const { return found_; }

  void note_recomputed(const Recomputing& how, std::size_t which) {
    Recomputed& note = found_.recomputed.emplace();
    note = {which, how.effort, how.copies.size(), 0, 0};
    for (OpId id : how.copies)
      if (const int cell = cells_.of_op[id]; cell >= 0) {
        const Cell& one = cells_.cells[static_cast<std::size_t>(cell)];
        note.seconds += one.times * search::seconds_of_cost(one.strategies->costs[way_of(cell)]);
      }
    for (ValueId v : how.needed) note.bytes += bytes_of(v);
    for (ValueId v : how.kept) note.bytes -= bytes_of(v);
  }

  // With what a report wants to know, where it asks for that.
  FoundPlan take(bool details) {
    write_layouts();
    found_.peak_bytes = search::peak_with_copies(cells_, ways_, tables_.lists, let_go_).bytes;
    found_.op_seconds = search::op_seconds(cells_, ways_, tables_.lists, program_, function_);
    if (details)
      found_.details =
          search::details_of(tables_.on, tables_.lists, cells_, classes_, ways_, found_.cost);
    const search::Moved moved = search::moved_by(cells_, ways_, tables_.lists);
    found_.moves = search::seconds_of_cost(moved.all);
    found_.exposed = search::seconds_of_cost(moved.exposed);
    found_.carried = wanted_.carried;
    return std::move(found_);
  }

 private:
  Searcher(Tables& tables, const Function& function, const search::Wanted& wanted)
      : program_(tables.on.program), function_(function), wanted_(wanted), tables_(tables) {}

  // Returns when it is fullest.
  Expected<std::int64_t> solve_at(std::int64_t limit, const std::vector<std::int64_t>& times,
                                  const SolveOptions& how) {
    const auto begun = std::chrono::steady_clock::now();
    const auto since = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    };
    if (!costs_) costs_ = search::network_of(cells_, classes_, tables_.lists);
    CostNetwork network = *costs_;
    if (limit != INT64_MAX)
      search::add_memory(network, cells_, classes_, tables_.lists, {limit, times});
    const double built = since();
    HEDDLE_TRY(const Solution solution, solve(network, near_enough(how, network)));
    ways_.clear();
    for (int c : classes_) ways_.push_back(solution.values[static_cast<std::size_t>(c)]);
    const search::Peak peak = search::peak_of(cells_, ways_, tables_.lists);
    log(kLogSteps,
        "search: {} choices, {} pairs, memory at {} times: built in {:.3g} s, solved in {:.3g} s; "
        "{} bytes",
        network.variables(), network.edges().size(), times.size(), built, since() - built,
        peak.bytes);
    found_.cost = search::seconds_of_cost(solution.cost);
    bound_ = std::min(solution.bound, solution.cost);
    found_.bound = search::seconds_of_cost(bound_);
    found_.held_bytes = peak.bytes;
    found_.cells = cells_.cells.size();
    found_.variables = static_cast<std::size_t>(network.variables());
    return peak.time;
  }

  // ---- the solution as layouts

  std::size_t way_of(int cell) const {
    return static_cast<std::size_t>(ways_[static_cast<std::size_t>(cell)]);
  }

  int split_of(ValueId v) const {
    const auto [cell, list] = cells_.lies[v];
    return list < 0 ? -1 : tables_.lists[list][way_of(cell)];
  }

  // Of one device.
  std::int64_t bytes_of(ValueId v) const {
    const int split = split_of(v);
    return split < 0 ? 0 : local_type(program_.type_of(v), tables_.on.splits[split]).bytes();
  }

  void write_layouts() {
    Propagation& layouts = found_.layouts;
    layouts.splits.resize(program_.value_count());
    for (ValueId v = 0; v < program_.value_count(); ++v) {
      if (!program_.type_of(v).is_tensor()) continue;
      const int split = split_of(v);
      layouts.splits[v] = split < 0 ? Split::whole(program_.type_of(v))
                                    : tables_.on.splits[search::complete_split(tables_.on, split)];
    }
    layouts.chosen.resize(program_.op_count());
    for (OpId id = 0; id < program_.op_count(); ++id)
      if (const int cell = cells_.of_op[id]; cell >= 0)
        layouts.chosen[id] =
            cells_.cells[static_cast<std::size_t>(cell)].strategies->ways[way_of(cell)];
    const Op& end = program_.op(program_.region(function_.body).ops.back());
    const auto returned = program_.operands(end);
    for (std::size_t i = 0; i < returned.size(); ++i)
      layouts.results.push_back(result_split(i, returned[i]));
    if (is_tight_) let_copies_go();
  }

  // A cost counts a move for every use. Where memory is short, copies stay no longer than that.
  void let_copies_go() {
    constexpr std::int64_t kParts = 64, kLeast = 8;  // of the time, and how long one is
    const std::int64_t every = std::max(kLeast, cells_.ops / kParts);
    const search::Traits traits = search::traits_of(program_, function_, tables_.on.rules);
    std::int64_t next = every;
    for (OpId id : program_.region(function_.body).ops) {
      if (traits.begin[id] < next) continue;
      found_.layouts.let_go_at.push_back(id);
      let_go_.push_back(traits.begin[id]);
      next = traits.begin[id] + every;
    }
  }

  Split result_split(std::size_t i, ValueId returned) const {
    const std::vector<ValueId>& args = program_.region(function_.body).args;
    for (const Carried& c : wanted_.carried)
      if (c.result == i) return found_.layouts.splits[args[c.argument]];
    if (wanted_.results[i] >= 0) return tables_.on.splits[wanted_.results[i]];
    return found_.layouts.splits[returned];
  }

  const Program& program_;
  const Function& function_;
  const search::Wanted wanted_;
  Tables& tables_;
  Cells cells_;
  std::vector<int> classes_;
  std::optional<CostNetwork> costs_;  // without memory
  std::vector<int> ways_;             // by cell
  CostNetwork::Cost bound_ = 0;       // of the last solution
  CostNetwork::Cost free_bound_ = 0;  // whatever it takes
  bool is_tight_ = false;             // the last solution is one that a limit asked for
  std::vector<std::int64_t> let_go_;  // times from which on no copy is there that was before
  FoundPlan found_;
};

// From a function as it is to those that compute more and more again: the cheapest of them that
// fits.
class Ladder {
 public:
  Ladder(Tables& tables, const Function& function, const PropagateOptions& options,
         const SearchOptions& how, std::span<const Recomputing> others)
      : tables_(tables), function_(function), options_(options), how_(how), others_(others) {
    steps_.resize(1 + others.size());
  }

  Expected<FoundPlan> run() {
    HEDDLE_TRY(wanted_, wanted_of(tables_.on, function_, options_));
    const std::int64_t wish = std::min(how_.memory_wish, how_.memory_limit);
    if (wish == how_.memory_limit || !climb(wish)) HEDDLE_TRY_VOID(climb(how_.memory_limit));
    FoundPlan found = steps_[*best_]->take(how_.details);
    found.bound = std::min(bound_, found.cost);
    const double start = tables_.on.mesh.mesh.device().start;  // every plan has it
    found.cost += start;
    found.bound += start;
    found.seconds = seconds();
    found.memory = limit_;
    return found;
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }

  // With the time that is left.
  SolveOptions solving() const {
    constexpr double kLeast = 0.01;
    SolveOptions options = how_.solve;
    if (options.seconds > 0) options.seconds = std::max(kLeast, options.seconds - seconds());
    return options;
  }

  Verdict climb(std::int64_t limit) {
    limit_ = limit;
    best_.reset();
    bound_ = std::numeric_limits<double>::infinity();
    std::optional<Reason> no;
    for (std::size_t k = is_said() ? 1 : 0; k < steps_.size(); ++k) {
      if (!may_have_room(k)) continue;
      HEDDLE_TRY_VOID(enter(k));
      if (const Verdict room = steps_[k]->has_room(limit); !room) {
        no = room.why();
        log(kLogSteps, "search: effort {}: {}", effort_of(k), room.reason());
        continue;
      }
      HEDDLE_TRY(const Climbed climbed, try_step(k));
      if (!climbed.found) no = climbed.found.why();
      if (climbed.is_enough) break;
    }
    if (!best_) return *no;
    return yes();
  }

  // Without a limit there is nothing to gain. Where what is kept would have to be split among many
  // more devices than there are, it is not even looked at.
  bool may_have_room(std::size_t k) const {
    if (is_said() || k + 1 == steps_.size()) return true;
    if (limit_ == INT64_MAX) return k == 0;
    constexpr double kMany = 2;
    const Program& program = tables_.on.program;
    double bytes = 0;
    for (ValueId v : k == 0 ? others_[0].needed : others_[k - 1].kept)
      bytes += static_cast<double>(program.type_of(v).bytes());
    return bytes / static_cast<double>(tables_.on.mesh.mesh.devices()) <
           kMany * static_cast<double>(limit_);
  }

  struct Climbed {
    Verdict found = yes();
    bool is_enough = false;  // who computes more again takes longer still
  };

  Expected<Climbed> try_step(std::size_t k) {
    Searcher& step = *steps_[k];
    bool fits = false;
    double free_bound = 0;
    if (is_worth_a_look(k)) {
      HEDDLE_TRY(fits, step.solve_freely(limit_, solving()));
      // A network with memory is another one, of which more may be found.
      constexpr double kFar = 0.01;
      fits = fits && (limit_ == INT64_MAX || step.found().gap() <= kFar);
      free_bound = step.found().bound;
      tell(k, "whatever it takes");
      if (best_ && free_bound >= best_cost()) return Climbed{};
    }
    Climbed climbed{fits ? yes() : step.solve_within(limit_, harmless(), solving()), fits};
    bound_ = std::min(bound_, climbed.found ? step.found().bound : free_bound);
    if (!climbed.found) return climbed;
    if (!fits) tell(k, "within the limit");
    climbed.is_enough = fits || step.found().cost - free_bound < least_gain() * step.found().cost;
    if (best_ && step.found().cost >= best_cost()) return climbed;
    best_ = k;
    if (k > 0) step.note_recomputed(others_[k - 1], k - 1);
    return climbed;
  }

  // A plan without a limit says whether there is any need for one, and what others can gain at
  // most. After the last step nobody asks, unless there is room for it.
  bool is_worth_a_look(std::size_t k) {
    constexpr std::int64_t kAmple = 4;
    return limit_ == INT64_MAX || k + 1 < steps_.size() || steps_[k]->has_room(limit_ / kAmple);
  }

  // What is only wished for leaves more room than that.
  std::int64_t harmless() const {
    constexpr std::int64_t kPart = 100;
    return limit_ < how_.memory_limit ? limit_ / kPart : 0;
  }

  double best_cost() const { return steps_[*best_]->found().cost; }

  void tell(std::size_t k, const char* how) const {
    const FoundPlan& found = steps_[k]->found();
    log(kLogSteps,
        "search: effort {}: {:.4g} s, at least {:.4g} s, with {} bytes, {}; {:.3g} s so far",
        effort_of(k), found.cost, found.bound, found.held_bytes, how, seconds());
  }

  int effort_of(std::size_t k) const { return k == 0 ? 0 : others_[k - 1].effort; }
  bool is_said() const { return how_.recompute.value_or(0) > 0 && !others_.empty(); }

  Verdict enter(std::size_t k) {
    if (steps_[k]) return yes();
    const Function& function = k == 0 ? function_ : others_[k - 1].function;
    SearchOptions counted = how_;
    if (how_.count) how_.count(tables_.on.program, function, counted);
    search::Wanted wanted = wanted_;
    wanted.times = std::move(counted.times);
    wanted.argument_times = std::move(counted.argument_times);
    HEDDLE_TRY(steps_[k], Searcher::make(tables_, function, wanted));
    return yes();
  }

  // A share of the cost that is not worth another search.
  double least_gain() const {
    constexpr double kQuick = 0.02, kThorough = 1e-4;
    return how_.solve.level == 2 ? kQuick : kThorough;
  }

  Tables& tables_;
  const Function& function_;
  const PropagateOptions& options_;
  const SearchOptions& how_;
  const std::span<const Recomputing> others_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  search::Wanted wanted_;
  std::vector<std::unique_ptr<Searcher>> steps_;  // the function's first
  std::optional<std::size_t> best_;
  double bound_ = 0;
  std::int64_t limit_ = INT64_MAX;
};

}  // namespace

std::vector<Recomputing> recomputing(Program& program, const Function& function,
                                     const SearchOptions& how) {
  const bool limited = how.memory_limit != INT64_MAX || how.memory_wish != INT64_MAX;
  std::vector<Recomputing> made;
  if (how.recompute ? *how.recompute == 0 : !limited) return made;
  RuleCache rules(program);
  std::vector<search::Recomputation> ways;
  if (how.recompute)
    ways.push_back(search::recomputation_for(program, function, rules, *how.recompute));
  else
    ways = search::recomputations(program, function, rules);
  for (const search::Recomputation& way : ways)
    if (!way.again.empty()) made.push_back(search::with_recomputation(program, function, way));
  return made;
}

Expected<FoundPlan> search_plan(const Program& program, const Function& function, RuleCache& rules,
                                const PropagateOptions& options, const SearchOptions& how,
                                std::span<const Recomputing> others) {
  Tables tables(program, rules, program.meshes[options.mesh]);
  return Ladder(tables, function, options, how, others).run();
}

}  // namespace heddle
