// From a program to the cheapest plan: of the function as it is, or of one that computes again.
#include "heddle/search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <future>
#include <utility>

#include "heddle/log.h"
#include "heddle/row_parts.h"
#include "parallel/search/move_costs.h"
#include "parallel/search/recompute.h"
#include "parallel/search/searcher.h"
#include "parallel/seeds.h"

namespace heddle {

namespace {

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

// From a function as it is to those that compute more and more again: the cheapest of them that
// fits.
class Ladder {
 public:
  Ladder(search::Tables& tables, const Function& function, const PropagateOptions& options,
         const SearchOptions& how, std::span<const Recomputing> others)
      : tables_(tables), function_(function), options_(options), how_(how), others_(others) {
    steps_.resize(1 + others.size());
  }

  Expected<FoundPlan> run() {
    HEDDLE_TRY(wanted_, wanted_of(tables_.on, function_, options_));
    const std::int64_t wish = std::min(how_.memory_wish, how_.memory_limit);
    Verdict climbed = climb(wish);
    if (!climbed && !is_beaten_ && wish != how_.memory_limit) climbed = climb(how_.memory_limit);
    if (is_beaten_) return beaten();
    if (is_stopped() || is_late()) hurry();
    if (!climbed && !quick_) return climbed.why();
    FoundPlan found = (quick_ ? quick_ : steps_[*best_])->take(how_.details);
    found.bound = std::min(bound_, found.cost);
    const double start = tables_.on.mesh.mesh.device().start;  // every plan has it
    found.cost += start;
    found.bound += start;
    found.seconds = seconds();
    found.memory = limit_;
    found.wish = how_.memory_wish;
    log(kLogSteps, "search: {:.3g} s, of all threads {:.3g} s of processor time", found.seconds,
        processor_seconds() - processor_begun_);
    return found;
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }

  static double processor_seconds() {
    return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
  }

  // Where memory is limited a search with the limit follows.
  static constexpr double kShareOfFree = 0.3;

  // With a share of the time that is left.
  SolveOptions solving(double share) {
    constexpr double kLeast = 0.01;
    SolveOptions options = how_.solve;
    if (options.seconds > 0)
      options.seconds =
          std::max(kLeast, (limit_ == INT64_MAX ? 1 : share) * (options.seconds - seconds()));
    if (how_.to_beat != nullptr)
      options.is_of_no_use = [this](CostNetwork::Cost bound) {
        return cannot_beat(search::seconds_of_cost(bound));
      };
    return options;
  }
  // Nor does what takes as long as the best step so far, or longer than the one ahead.
  SolveOptions solving_within() {
    SolveOptions options = solving(1);
    options.is_of_no_use = [this, also = options.is_of_no_use](CostNetwork::Cost bound) {
      const double seconds = search::seconds_of_cost(bound);
      if (best_ && seconds >= best_cost()) outdone_by_ = best_cost();
      if (ahead_ && seconds > ahead_->cost) outdone_by_ = ahead_->cost.load();
      return outdone_by_ || (also && also(bound));
    };
    return options;
  }

  bool is_stopped() const { return how_.solve.stop.stop_requested(); }
  bool is_late() const { return how_.solve.seconds > 0 && seconds() >= how_.solve.seconds; }

  bool cannot_beat(double bound) {
    const double start = tables_.on.mesh.mesh.device().start;
    is_beaten_ = is_beaten_ || bound + start > how_.to_beat->load(std::memory_order_relaxed);
    return is_beaten_;
  }
  static Reason beaten() { return Reason{kBeaten}; }

  Verdict climb(std::int64_t limit) {
    limit_ = limit;
    best_.reset();
    ahead_.reset();
    least_free_ = least_first_ = 0;
    bound_ = std::numeric_limits<double>::infinity();
    std::optional<Reason> no;
    bool is_enough = false;
    for (std::size_t k = is_said() ? 1 : 0; k < steps_.size(); ++k) {
      if (!may_have_room(k)) continue;
      HEDDLE_TRY_VOID(enter(k));
      if (const Verdict room = steps_[k]->has_room(limit); !room) {
        no = room.why();
        log(kLogSteps, "search: effort {}: {}", effort_of(k), room.reason());
        continue;
      }
      HEDDLE_TRY(const Climbed climbed, try_step(k));
      if (is_beaten_) return beaten();
      if (!climbed.found) no = climbed.found.why();
      is_enough = is_enough || climbed.is_enough;
      // What is looked at beside it counts too, whoever is through first.
      if ((is_enough && !ahead_) || is_stopped() || is_late()) break;
    }
    ahead_.reset();
    if (!best_) return *no;
    return yes();
  }

  // Who has no time gets the best plan in which axes of the mesh go together, where that is better
  // than what there is: it is found in a fraction of the time.
  void hurry() {
    constexpr double kWide = 0.02, kMoment = 0.5;
    if (best_ && (best_cost() - bound_ <= kWide * best_cost())) return;
    if (!best_) bound_ = least_of_steps();
    if (!hurry_with(2, kMoment) && !best_) hurry_with(1, 0);
  }

  // What no plan takes less than, of those steps that were looked at.
  double least_of_steps() const {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& step : steps_)
      if (step) least = std::min(least, step->least_seconds());
    return least < std::numeric_limits<double>::infinity() ? least : 0;
  }

  bool hurry_with(std::size_t groups, double seconds) {
    quick_tables_ =
        std::make_unique<search::Tables>(tables_.on.program, tables_.on.rules, tables_.on.mesh);
    join_axes(quick_tables_->on.axis_groups, groups);
    const Expected<search::Wanted> wanted = wanted_of(quick_tables_->on, function_, options_);
    if (!wanted) return false;
    const std::size_t last = steps_.size() - 1;
    return (!is_said() && try_quickly(0, *wanted, seconds)) ||
           (last > 0 && try_quickly(last, *wanted, seconds));
  }

  // So many groups at most, of equally many axes, from the outer ones to the inner ones.
  static void join_axes(std::vector<std::vector<int>>& groups, std::size_t most) {
    std::vector<std::vector<int>> joined(std::min(most, groups.size()));
    for (std::size_t g = 0; g < groups.size(); ++g) {
      std::vector<int>& group = joined[g * joined.size() / groups.size()];
      group.insert(group.end(), groups[g].begin(), groups[g].end());
    }
    groups = std::move(joined);
  }

  bool try_quickly(std::size_t k, const search::Wanted& wanted, double most_seconds) {
    auto step = made_for(k, *quick_tables_, wanted);
    if (!step) return false;
    SolveOptions options = how_.solve;
    options.level = 2;
    options.seconds = most_seconds;
    options.stop = {};
    const Expected<bool> fits = (*step)->solve_freely(limit_, options);
    if (!fits) return false;
    if (!*fits && !(*step)->solve_within({limit_, harmless(), true}, options)) return false;
    if (best_ && (*step)->found().cost >= best_cost()) return true;
    quick_ = *std::move(step);
    if (k > 0) quick_->note_recomputed(others_[k - 1], k - 1);
    log(kLogSteps, "search: in a hurry: {:.4g} s, with {} bytes; {:.3g} s so far",
        quick_->found().cost, quick_->found().held_bytes, seconds());
    return true;
  }

  // Without a limit there is nothing to gain. Where what is kept would have to be split among many
  // more devices than there are, it is not even looked at.
  bool may_have_room(std::size_t k) const {
    if (is_said() || k + 1 == steps_.size()) return true;
    if (limit_ == INT64_MAX) return k == 0;
    constexpr double kMany = 1.3;
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
    search::Searcher& step = *steps_[k];
    bool fits = false;
    double free_bound = least_free_;
    const bool looked_freely = is_worth_a_look(k);
    if (looked_freely) {
      const Expected<bool> freely = step.solve_freely(limit_, solving(kShareOfFree));
      if (!freely) {
        bound_ = std::min(bound_, step.least_seconds());
        return Climbed{freely.why()};
      }
      fits = *freely;
      // A network with memory is another one, of which more may be found.
      constexpr double kFar = 0.01;
      fits =
          fits && (limit_ == INT64_MAX || step.found().gap() <= kFar || is_stopped() || is_late());
      free_bound = least_free_ = step.found().bound;
      least_first_ = step.least_seconds();
      tell(k, "whatever it takes");
      if (best_ && free_bound >= best_cost()) return Climbed{};
      // Who waits has no time for what is only wished for.
      if (!fits && is_stopped() && limit_ < how_.memory_limit)
        return Climbed{Reason{"the search was stopped"}, true};
    }
    Climbed climbed{fits ? yes() : solve_within(k), fits};
    bound_ = std::min(bound_, climbed.found   ? step.found().bound
                              : outdone_by_   ? *outdone_by_
                              : looked_freely ? free_bound
                                              : step.least_seconds());
    if (!climbed.found) return climbed;
    if (!fits) tell(k, "within the limit");
    const double cost = step.found().cost;
    if (ahead_) ahead_->to_beat = std::min(ahead_->to_beat.load(), cost);
    // What is computed again here is so by all that follow.
    const double again = step.least_seconds() - least_first_;
    climbed.is_enough = fits || is_near(cost, free_bound + std::max(0.0, again));
    if (best_ && cost >= best_cost()) return climbed;
    best_ = k;
    if (k > 0) step.note_recomputed(others_[k - 1], k - 1);
    return climbed;
  }

  // On another thread. Of the step at hand and this one each ends where the other one is proved to
  // be better, so that it makes no difference which of them is through first.
  struct Ahead {
    static constexpr double kNever = std::numeric_limits<double>::infinity();
    std::size_t step = 0;
    std::atomic<double> to_beat = kNever, cost = kNever;
    bool is_outdone = false;  // for who has waited
    std::stop_source stop;
    std::future<Verdict> found;
    ~Ahead() { stop.request_stop(); }  // and waits for it
  };

  Verdict solve_within(std::size_t k) {
    outdone_by_.reset();
    if (const auto ahead = std::exchange(ahead_, nullptr); ahead && ahead->step == k) {
      const Verdict found = ahead->found.get();
      if (ahead->is_outdone) outdone_by_ = ahead->to_beat.load();
      return found;
    }
    look_ahead(k);
    return steps_[k]->solve_within({limit_, harmless(), is_one_of_many()}, solving_within());
  }

  // What does not fit as it is seldom ends the climb: the next step is solved meanwhile. Not where
  // other meshes are searched beside this one, nor where somebody counts seconds.
  void look_ahead(std::size_t k) {
    const auto is_stopped = [this] { return this->is_stopped(); };
    do ++k;
    while (k < steps_.size() && !may_have_room(k));
    if (k >= steps_.size() || how_.to_beat != nullptr || how_.solve.seconds > 0 ||
        how_.solve.level != 2 || is_said() || is_one_of_many() || least_free_ <= 0)
      return;  // the last: it would be solved without a limit first
    if (!enter(k) || !steps_[k]->has_room(limit_) || !steps_[k]->prepare(is_stopped)) return;
    ahead_ = std::make_unique<Ahead>();
    ahead_->step = k;
    if (best_) ahead_->to_beat = best_cost();
    SolveOptions options = how_.solve;
    options.on_progress = {};
    options.stop = ahead_->stop.get_token();
    options.is_of_no_use = [ahead = ahead_.get()](CostNetwork::Cost bound) {
      return ahead->is_outdone = search::seconds_of_cost(bound) >= ahead->to_beat;
    };
    const search::Searcher::Within within{limit_, harmless(), false};
    ahead_->found = std::async(std::launch::async,
                               [ahead = ahead_.get(), step = steps_[k].get(), within, options] {
                                 const Verdict found = step->solve_within(within, options);
                                 if (found) ahead->cost = step->found().cost;
                                 return found;
                               });
  }

  // A plan without a limit says whether there is any need for one, and what others can gain at
  // most: who computes more again takes longer. After the last step nobody asks, unless there is
  // room for it.
  bool is_worth_a_look(std::size_t k) {
    constexpr std::int64_t kAmple = 4;
    if (limit_ != INT64_MAX && least_free_ > 0) return false;
    return limit_ == INT64_MAX || k + 1 < steps_.size() || steps_[k]->has_room(limit_ / kAmple);
  }

  // What is only wished for leaves more room than that.
  std::int64_t harmless() const {
    constexpr std::int64_t kPart = 100;
    return limit_ < how_.memory_limit ? limit_ / kPart : 0;
  }

  // Where somebody gives a limit, searches with others follow: none of them goes on for long.
  bool is_one_of_many() const {
    return how_.solve.level == 2 && limit_ != INT64_MAX && limit_ == how_.memory_limit;
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
    HEDDLE_TRY(steps_[k], made_for(k, tables_, wanted_));
    return yes();
  }

  Expected<std::unique_ptr<search::Searcher>> made_for(std::size_t k, search::Tables& tables,
                                                       search::Wanted wanted) const {
    const Function& function = k == 0 ? function_ : others_[k - 1].function;
    SearchOptions counted = how_;
    if (how_.count) how_.count(tables_.on.program, function, counted);
    wanted.times = std::move(counted.times);
    wanted.argument_times = std::move(counted.argument_times);
    if (counted.rows_lie_on_stages)
      for (const RowParts& parts : argument_rows(tables_.on.program, function))
        wanted.row_parts.push_back(static_cast<double>(parts.size()));
    return search::Searcher::make(tables, function, wanted);
  }

  // What is between is a share of the cost that is not worth another search.
  bool is_near(double cost, double bound) const {
    constexpr double kQuick = 0.02, kThorough = 1e-4;
    return cost - bound < (how_.solve.level == 2 ? kQuick : kThorough) * cost;
  }

  search::Tables& tables_;
  const Function& function_;
  const PropagateOptions& options_;
  const SearchOptions& how_;
  const std::span<const Recomputing> others_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  const double processor_begun_ = processor_seconds();
  search::Wanted wanted_;
  std::vector<std::unique_ptr<search::Searcher>> steps_;  // the function's first
  std::optional<std::size_t> best_;
  std::unique_ptr<Ahead> ahead_;
  std::unique_ptr<search::Tables> quick_tables_;
  std::unique_ptr<search::Searcher> quick_;  // a plan for who has no time, where it is the best one
  double bound_ = 0;
  // Seconds of the first step that was looked at, whatever memory it takes: of a plan, and without
  // any move.
  double least_free_ = 0, least_first_ = 0;
  std::int64_t limit_ = INT64_MAX;
  bool is_beaten_ = false;            // by a plan that is at hand already
  std::optional<double> outdone_by_;  // by which plan's seconds the step at hand is
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
  search::Tables tables(program, rules, program.meshes[options.mesh]);
  return Ladder(tables, function, options, how, others).run();
}

}  // namespace heddle
