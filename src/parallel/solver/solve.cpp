#include "heddle/solve.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <limits>
#include <utility>

#include "parallel/solver/branch.h"
#include "parallel/solver/cases.h"
#include "parallel/solver/cbc.h"
#include "parallel/solver/dual.h"
#include "parallel/solver/likely.h"
#include "parallel/solver/reduce.h"
#include "parallel/solver/search.h"

namespace heddle {
namespace {

using solver::kInfinite;
using Cost = CostNetwork::Cost;

constexpr double kRoundWork = 2e7;     // entries of tables, for each of the two workers
constexpr int kQuickRounds = 100;      // of level 2
constexpr int kThoroughRounds = 2000;  // of level 3, where nobody says when to stop
constexpr double kSmallGap = 0.01, kWorthIt = 0.01;
// Rounds without gain, of level 2: the nearer, the fewer.
constexpr double kTinyGap = 0.002;
constexpr int kShortPatience = 3, kPatience = 5, kLongPatience = 8;
// Passes before the search begins. One that begins from messages which have not settled may take
// very long.
constexpr int kMostRows = 8, kPassesOfRow = 80, kSettlingPasses = 40;
constexpr double kLeastRise = 2e-4;  // of the bound, by a row of passes
constexpr double kSlowRise = 1e-3;   // by the passes between two looks at what they say
constexpr int kPassesToDecode = 10, kManyVariables = 200;
constexpr double kFirstWork = 6e9;
// Of each variable that look best, and rounds for these alone.
constexpr int kFewValues = 6, kPartRounds = 4;
constexpr double kCaseWork = 2e9;  // for a bound by cases
constexpr double kBranchTable = 2e5;
constexpr double kFirstBranch = 2e7;  // work
constexpr int kMostToBranch = 3000;   // variables
constexpr int kCbcRound = 100;
constexpr std::size_t kMostForCbc = 200'000;  // entries of tables
constexpr double kCbcSeconds = 5;
constexpr int kShareRounds = 8;  // after which both searches go on from the best

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Rounds of two workers that know nothing of each other inside of a round, so that the answer is
// the same however many threads there are.
class Solver {
 public:
  Solver(const CostNetwork& network, const SolveOptions& options, const Clock& clock,
         const solver::Reduction& reduction, bool is_part = false)
      : network_(network),
        options_(options),
        clock_(clock),
        is_part_(is_part),
        reduction_(reduction),
        core_(reduction_.model()),
        dual_(core_, options.level == 2 && core_.variables() >= kManyVariables
                         ? solver::Tables::rounded
                         : solver::Tables::exact),
        searches_{solver::Search(core_, 1), solver::Search(core_, 2)},
        branch_(core_, kBranchTable) {}

  Expected<Solution> run() {
    search();
    if (has_to_stop()) find_anything();
    return answer();
  }

 private:
  void search() {
    begin();
    const int rounds = is_part_               ? kPartRounds
                       : options_.level == 2  ? kQuickRounds
                       : options_.seconds > 0 ? std::numeric_limits<int>::max()
                                              : kThoroughRounds;
    for (int round = 0; round < rounds && !is_over(); ++round) {
      one_round(round);
      exchange(round);
      if (round == kCbcRound && best_cost() >= kInfinite) ask_cbc();
      tell();
      if (options_.level == 2 && is_good_enough(round) && !look_at_cases()) break;
    }
  }

  bool has_to_stop() const {
    return options_.stop.stop_requested() ||
           (options_.seconds > 0 && clock_.seconds() >= options_.seconds);
  }
  bool is_over() const {
    const double cost = best_cost(), near = cost < kInfinite ? options_.gap * cost : 0;
    return has_to_stop() || is_proved_ || cost <= bound() + std::max(0.5, near) || is_of_no_use();
  }
  bool is_of_no_use() const {
    return options_.is_of_no_use && options_.is_of_no_use(static_cast<Cost>(bound()));
  }

  // Level 2 ends where it is near the bound, or has not come nearer for long.
  bool is_good_enough(int round) {
    const double cost = best_cost(), gap = (cost - bound()) / std::max(1.0, cost);
    if (gap < last_gap_ * (1 - kWorthIt)) {
      last_gap_ = gap;
      last_gain_ = round;
    }
    return round - last_gain_ >= (gap <= kTinyGap    ? kShortPatience
                                  : gap <= kSmallGap ? kPatience
                                                     : kLongPatience);
  }

  // Half of the time is the search's.
  bool is_half_over() const {
    return has_to_stop() || (options_.seconds > 0 && clock_.seconds() >= options_.seconds / 2);
  }

  // Prices move, then messages settle at the best ones, in turn until that brings little.
  void first_passes() {
    double work = 0;
    for (int row = 0; row < (is_part_ ? 1 : kMostRows) && work < kFirstWork; ++row) {
      const double before = dual_.bound();
      for (int i = 0; i < kPassesOfRow && !is_half_over(); ++i) {
        work += dual_.step(kInfinite);
        if (i % kPassesToDecode != kPassesToDecode - 1) continue;
        if (is_of_no_use() || is_near_without_memory()) return;
      }
      if (core_.times() > 0 && !is_half_over()) work += dual_.settle(kSettlingPasses);
      if (is_half_over() || dual_.bound() - before < kLeastRise * std::abs(before)) return;
      if (is_near_with_memory()) return;
    }
  }

  // Where nothing is limited the messages themselves say a good assignment.
  bool is_near_without_memory() {
    if (core_.times() > 0 || options_.level > 2) return false;
    start_searches();
    const double before = std::exchange(looked_at_, dual_.bound());
    // Less and less often, where that does not help.
    if (dual_.bound() - before < kSlowRise * std::abs(before) && --until_likely_ <= 0) {
      look_closely();
      until_likely_ = likely_every_ *= 2;
    }
    return is_near();
  }
  // Elsewhere a short search finds it; what is small is proved sooner by branching.
  bool is_near_with_memory() {
    if (core_.times() == 0 || options_.level > 2 || core_.variables() < kManyVariables)
      return false;
    start_searches();
    look_closely();
    return is_over() || is_near();
  }
  void look_closely() {
    if (core_.variables() < kManyVariables) return;
    if (is_likely_good_) solve_likely(kFewValues);
    if (is_over()) return;
    one_round(0);
    exchange(0);
  }
  // The few values of each variable that look best, as a network of their own: small enough to be
  // solved well, and what is best among them is seldom much worse than the best of all.
  void solve_likely(int for_each) {
    if (is_part_ || core_.variables() < kManyVariables || has_to_stop() || is_near()) return;
    const auto kept = solver::likely_values(core_, dual_.margins(), best(), for_each);
    auto part = solver::Reduction::of(reduction_.model(), kept, [&] { return has_to_stop(); });
    if (!part) return;
    SolveOptions options = options_;
    options.level = 2;
    options.on_progress = {};
    options.is_of_no_use = {};
    Solver solver(network_, options, clock_, *part, true);
    solver.search();
    const auto found = solver.best();
    is_likely_good_ = !found.empty() && solver.best_cost() < best_cost() - 0.5;
    if (is_likely_good_) searches_[0].start(part->unfold(found));
  }
  bool is_near() const {
    const double cost = best_cost();
    return cost < kInfinite && cost - bound() <= options_.gap * cost;
  }

  void start_searches() {
    const std::vector<int> first = dual_.decode();
    for (solver::Search& search : searches_) {
      search.set_prices(dual_.prices());
      search.start(first);
    }
  }

  void begin() {
    first_passes();
    start_searches();
    if (is_likely_good_) solve_likely(kFewValues);
    look_at_cases();
    // What is small is proved at once.
    if (is_over()) return;
    branch(best_cost(), kFirstBranch);
    exchange(0);
  }

  // Where memory is what keeps the bound down; once more for a better assignment, since the nearer
  // it is the more values are out of the question. Whether that brought something.
  bool look_at_cases() {
    if (is_part_ || core_.times() == 0 || core_.variables() < kManyVariables || is_over())
      return false;
    const double cost = best_cost(), before = bound();
    const double gap = options_.level == 2 ? std::max(options_.gap, kTinyGap) : options_.gap;
    if (cost >= case_cost_ || (cost < kInfinite && cost - before <= gap * cost)) return false;
    solver::Cases cases(core_, dual_);
    cases.run(cost, gap, kCaseWork, [&] { return has_to_stop(); });
    if (!cases.best().empty())
      for (solver::Search& search : searches_) search.start(cases.best());
    case_cost_ = best_cost();
    is_proved_ = is_proved_ || (case_cost_ >= kInfinite && cases.bound() >= kInfinite);
    if (!is_proved_) case_bound_ = std::max(case_bound_, std::min(cases.bound(), case_cost_));
    return case_cost_ < cost || bound() > before;
  }

  // Who stops the search wants what there is: where that is nothing, a moment more is taken.
  void find_anything() {
    for (double work = kRoundWork; work > 0 && best_cost() >= kInfinite;)
      work -= searches_[0].step();
  }

  void one_round(int round) {
    // As both threads find it: what one gets to know meanwhile comes to the other by exchange().
    const double cost = best_cost();
    const auto search = [&](int which, double work) {
      while (work > 0 && !has_to_stop()) work -= searches_[which].step();
    };
    const auto second = [&] {
      double work = kRoundWork / 2;
      while (work > 0 && !has_to_stop()) work -= dual_.step(cost);
      if (options_.level < 3 || round % 2 == 0) return search(1, kRoundWork / 2);
      // A proof is tried with twice the work each time.
      if (round < next_branch_) return;
      next_branch_ = 2 * round + 1;
      branch(cost, kRoundWork * (round + 1) / 4);
    };
    if (options_.threads < 2) {
      search(0, kRoundWork);
      return second();
    }
    auto other = std::async(std::launch::async, [&] { search(0, kRoundWork); });
    second();
    other.get();
  }

  void branch(double cost, double work) {
    // Where there are very many variables no proof will come.
    if (core_.variables() > kMostToBranch) return;
    branch_end_ = branch_.run(cost, dual_.prices(), work, [&] { return has_to_stop(); });
  }

  // Where nothing fits after a while, an integer program may know better. It cannot be interrupted.
  void ask_cbc() {
    std::size_t cells = 0;
    for (const solver::Pair& pair : reduction_.model().pairs) cells += pair.table.size();
    if (options_.level < 3 || cells > kMostForCbc || !solver::has_cbc()) return;
    const double left = options_.seconds > 0 ? options_.seconds - clock_.seconds() : kInfinite;
    const double seconds = std::min(kCbcSeconds, left / 2);
    if (seconds <= 0) return;
    const solver::CbcAnswer answer = solver::solve_by_cbc(reduction_.model(), seconds);
    if (answer.chosen) searches_[0].start(*answer.chosen);
  }

  void exchange(int round) {
    if (branch_end_ != solver::Branch::End::stopped && !branch_.best().empty() &&
        branch_.best_cost() < best_cost() - 0.5)
      searches_[0].start(branch_.best());
    is_proved_ = is_proved_ || branch_end_ == solver::Branch::End::proved;
    const int better = searches_[0].best().cost <= searches_[1].best().cost ? 0 : 1;
    if (round % kShareRounds == kShareRounds - 1 && searches_[better].has_best())
      searches_[1 - better].start(searches_[better].best().chosen);
    for (solver::Search& search : searches_) search.set_prices(dual_.prices());
  }

  std::vector<int> best() const {
    const int better = searches_[0].best().cost <= searches_[1].best().cost ? 0 : 1;
    return searches_[better].best().chosen;
  }
  double best_cost() const { return std::min(searches_[0].best().cost, searches_[1].best().cost); }
  // Without what rounding may have added.
  double bound() const {
    const double bound = std::max(dual_.bound(), case_bound_);
    return std::max(std::ceil(bound - 1e-9 * std::abs(bound) - 1e-6),
                    static_cast<double>(options_.bound));
  }

  void tell() {
    if (!options_.on_progress) return;
    const double cost = best_cost();
    options_.on_progress({cost < kInfinite ? static_cast<Cost>(cost) : CostNetwork::kForbidden,
                          std::max<Cost>(0, static_cast<Cost>(bound())), clock_.seconds()});
  }

  Expected<Solution> answer() const {
    if (best_cost() >= kInfinite) return nothing();
    Solution solution;
    solution.values = reduction_.unfold(best());
    const Verdict fits = network_.check(solution.values);
    HEDDLE_CHECK(fits.ok(), "{}", fits.reason());
    solution.cost = network_.cost_of(solution.values);
    solution.bound =
        is_proved_ ? solution.cost : std::clamp<Cost>(static_cast<Cost>(bound()), 0, solution.cost);
    return solution;
  }

  Reason nothing() const {
    if (is_proved_) return reason("nothing that is allowed fits the limit of {}", network_.limit());
    if (options_.stop.stop_requested())
      return Reason{"the search was stopped before it had found anything"};
    return reason("nothing that fits the limit of {} was found: give it more time or more room",
                  network_.limit());
  }

  const CostNetwork& network_;
  const SolveOptions& options_;
  const Clock& clock_;
  const bool is_part_;  // of the values, for another solver
  const solver::Reduction& reduction_;
  const solver::Core core_;
  solver::Dual dual_;
  solver::Search searches_[2];
  solver::Branch branch_;
  solver::Branch::End branch_end_ = solver::Branch::End::out_of_work;
  int next_branch_ = 1;
  double last_gap_ = kInfinite;
  double looked_at_ = -kInfinite;            // the bound, at the last look
  int until_likely_ = 0, likely_every_ = 1;  // looks
  bool is_likely_good_ = true;               // what was found among likely values alone
  // What cases say, and the best cost that there was when they did.
  double case_bound_ = -kInfinite, case_cost_ = std::numeric_limits<double>::infinity();
  int last_gain_ = 0;  // the round that brought one
  bool is_proved_ = false;
};

Verdict check_options(const SolveOptions& options) {
  if (options.level != 2 && options.level != 3)
    return reason("level {} is not there: 2 is quick, 3 is thorough", options.level);
  if (!(options.gap >= 0 && options.gap < 1))
    return reason("a gap of {} is near enough: write a share of at least 0 and below 1",
                  options.gap);
  if (!(options.seconds >= 0))
    return reason("{} seconds: write a number that is not negative", options.seconds);
  return yes();
}

}  // namespace

Expected<Solution> solve(const CostNetwork& network, const SolveOptions& options) {
  HEDDLE_TRY_VOID(check_options(options));
  const Clock clock;
  if (network.variables() == 0) return Solution{};
  const auto has_to_stop = [&] {
    return options.stop.stop_requested() ||
           (options.seconds > 0 && clock.seconds() >= options.seconds / 2);
  };
  HEDDLE_TRY(solver::Reduction reduction, solver::Reduction::of(network, has_to_stop));
  return Solver(network, options, clock, reduction).run();
}

}  // namespace heddle
