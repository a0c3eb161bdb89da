#include "compile/within_memory.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/text.h"
#include "compile/distribute.h"
#include "heddle/device_memory.h"
#include "heddle/log.h"

namespace heddle {

namespace {

// So that it takes long to deal out and compile again and again.
bool is_large(const Program& core) {
  constexpr std::size_t kManyOps = 8000;
  return core.op_count() > kManyOps;
}

Expected<Written> written(const Program& core, const Target& target, const MicroBatches* cut) {
  HEDDLE_TRY(std::shared_ptr<Parallel> decided, decided_for(core, target, cut));
  HEDDLE_TRY(Spmd spmd, partition(decided));
  if (cut != nullptr) {
    HEDDLE_TRY(spmd, accumulated(std::move(spmd), *cut));
  }
  return Written{std::move(spmd), std::move(decided)};
}

// The most that one of the functions takes that were searched for.
Expected<std::int64_t> bytes_of(const Spmd& spmd, const Target& target) {
  Spmd ordered = spmd;
  ordered.program = schedule(ordered.program, schedule_options(target));
  std::int64_t most = 0;
  for (std::size_t i = 0; i < spmd.decided->functions.size(); ++i) {
    const SpmdFunction* function = ordered.find(spmd.logical().functions[i].name);
    if (!spmd.decided->functions[i].found || function == nullptr) continue;
    HEDDLE_TRY(const DeviceMemory memory, memory_when_compiled(ordered, *function));
    most = std::max(most, memory.needed());
  }
  return most;
}

std::int64_t counted_by(const Parallel& decided) {
  std::int64_t most = 0;
  for (const FunctionPlan& plan : decided.functions)
    if (plan.found) most = std::max(most, plan.found->peak_bytes);
  return most;
}

double cost_of(const Parallel& decided) {
  double sum = 0;
  for (const FunctionPlan& plan : decided.functions)
    if (plan.found) sum += plan.found->cost;
  return sum;
}

// Limits that searches are given: six to every doubling, the same whatever memory there is, so that
// what is found with less is found with more as well.
std::int64_t limit_below(double bytes) {
  constexpr double kSixth[] = {1, 1.122462048, 1.259921050, 1.414213562, 1.587401052, 1.781797436};
  double whole = 1;
  while (2 * whole <= bytes) whole *= 2;
  double found = 1;
  for (double part : kSixth)
    if (part * whole <= bytes) found = part * whole;
  return static_cast<std::int64_t>(found);
}
std::int64_t limit_above(std::int64_t limit) {
  return limit_below(1.13 * static_cast<double>(limit) + 2);
}

// Searches with limits around the one that is given, and keeps the best of what takes no more than
// that when it is compiled.
class Fitting {
 public:
  Fitting(const Program& core, const Target& target, const MicroBatches* cut, SearchesByLimit& done)
      : core_(core),
        target_(target),
        cut_(cut),
        limit_(target.layouts.device_memory),
        done_(done) {}

  Expected<Spmd> run() {
    const int rounds = is_large(core_) ? 3 : 10;
    HEDDLE_TRY(std::int64_t tried, first());
    for (int round = 0; round < rounds && tried > 0 && !is_over(); ++round) {
      if (any_will_do_ && best_ != 0) break;
      HEDDLE_TRY_VOID(look(tried));
      tried = next(tried);
    }
    if (best_ == 0 && is_over()) HEDDLE_TRY_VOID(look_at_once());
    if (best_ == 0) return why_not();
    const Written& made = *done_.at(best_);
    tell(*made.decided);
    return made.spmd;
  }

  // Whether there is a plan that fits, and not which one is the best.
  bool finds_any() {
    any_will_do_ = true;
    return run().ok();
  }

  std::int64_t least_compiled() const { return least_; }
  std::int64_t nothing_at() const { return nothing_at_; }

  // Looks at larger limits until one is enough for a search, and at some between.
  Verdict look_higher() {
    std::int64_t low = limit_below(static_cast<double>(limit_)), high = low;
    while (least_ == INT64_MAX && !is_over()) {
      if (high > INT64_MAX / 4) return yes();
      low = high;
      high = limit_below(2.0 * static_cast<double>(high) + 1);
      HEDDLE_TRY_VOID(look(high));
    }
    return look_between(low, high);
  }

  // Below what is enough for a search there may be smaller plans.
  Verdict look_lower() {
    constexpr double kFarBelow = 16;
    std::int64_t high = INT64_MAX;
    for (const auto& [limit, made] : done_)
      if (made) high = std::min(high, limit);
    if (high == INT64_MAX) return yes();
    return look_between(
        std::max(nothing_at_, limit_below(static_cast<double>(high) / kFarBelow + 1)), high);
  }

 private:
  // `high` is enough for a search; looks for less that is.
  Verdict look_between(std::int64_t low, std::int64_t high) {
    while (limit_above(low) < high && !is_over()) {
      const auto between =
          limit_below(std::sqrt(static_cast<double>(low)) * std::sqrt(static_cast<double>(high)));
      if (between <= low) break;
      HEDDLE_TRY(const bool found, look(between));
      (found ? high : low) = between;
    }
    return yes();
  }

  // Who has no time takes what is found in a moment.
  Verdict look_at_once() {
    for (const double share : {0.85, 0.6, 0.4}) {
      const std::int64_t tried = limit_below(share * static_cast<double>(limit_));
      if (was_looked_at(tried)) continue;
      HEDDLE_TRY_VOID(look(tried));
      if (best_ != 0) break;
    }
    return yes();
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }
  bool is_over() const {
    const GivenLayouts& how = target_.layouts;
    return how.search_stop.stop_requested() ||
           (how.search_seconds > 0 && seconds() >= how.search_seconds);
  }

  const Expected<Written>& searched(std::int64_t limit) {
    if (const auto known = done_.find(limit); known != done_.end()) return known->second;
    constexpr double kLeast = 0.01;
    Target target = target_;
    target.layouts.device_memory = limit;
    double& allowed = target.layouts.search_seconds;
    // What is best without a limit leaves time for what is within it.
    constexpr double kShareOfFree = 0.4;
    if (allowed > 0 && limit == INT64_MAX) allowed *= kShareOfFree;
    if (allowed > 0) allowed = std::max(kLeast, allowed - seconds());
    return done_.emplace(limit, written(core_, target, cut_)).first->second;
  }

  // Where the best plan of all would fit, it is the one; it says how far one has to go down.
  // Nobody compiles what takes far too much.
  Expected<std::int64_t> first() {
    constexpr double kFarTooMuch = 1.5;
    const Expected<Written>& free = searched(INT64_MAX);
    if (!free) return free.why();
    const auto counted = static_cast<double>(counted_by(*free->decided));
    const auto limit = static_cast<double>(limit_);
    if (counted > kFarTooMuch * limit) return limit_below(limit);
    HEDDLE_TRY_VOID(look(INT64_MAX));
    if (best_ != 0) return std::int64_t{0};
    return limit_below(std::min(limit, guess_));
  }

  // Whether a search finds something with the limit.
  Expected<bool> look(std::int64_t tried) {
    looked_.push_back(tried);
    const Expected<Written>& made = searched(tried);
    if (!made) {
      nothing_at_ = std::max(nothing_at_, tried);
      if (!no_plan_) no_plan_ = made.why();
      return false;
    }
    HEDDLE_TRY(const std::int64_t bytes, bytes_of(made->spmd, target_));
    const std::int64_t counted = counted_by(*made->decided);
    log(kLogPlans, "search: with {} bytes, a plan of {} by its count takes {} as compiled", tried,
        counted, bytes);
    note_bounds(tried, *made->decided);
    least_ = std::min(least_, bytes);
    // As much less as it was too much.
    guess_ = static_cast<double>(std::min(counted, tried)) * static_cast<double>(limit_) /
             static_cast<double>(bytes);
    fits_ = bytes <= limit_;
    if (fits_ && (best_ == 0 || cost_of(*made->decided) < cost_of(*done_.at(best_)->decided)))
      best_ = tried;
    return true;
  }

  // Up from what fits, down from what does not; 0: there is nothing more to look at.
  std::int64_t next(std::int64_t tried) const {
    constexpr double kCountedTooMuch = 1.3;
    const bool is_found = done_.at(tried).ok();
    if (is_found && !fits_) {
      if (best_ != 0) return 0;
      const std::int64_t lower = limit_below(std::min(guess_, 0.999 * static_cast<double>(tried)));
      return lower > nothing_at_ && !was_looked_at(lower) ? lower : between(tried);
    }
    const std::int64_t higher = limit_above(tried);
    const bool may_fit =
        static_cast<double>(higher) <= kCountedTooMuch * static_cast<double>(limit_);
    return may_fit && !was_looked_at(higher) ? higher : 0;
  }

  // The lowest that is above what is too little for a search.
  std::int64_t between(std::int64_t tried) const {
    const std::int64_t lowest = limit_above(nothing_at_);
    return nothing_at_ > 0 && lowest < tried && !was_looked_at(lowest) ? lowest : 0;
  }
  bool was_looked_at(std::int64_t limit) const {
    return std::ranges::find(looked_, limit) != looked_.end();
  }

  // Whatever fits fits a larger limit too: a bound holds that was found with the largest.
  void note_bounds(std::int64_t tried, const Parallel& decided) {
    if (tried <= widest_) return;
    if (tried != INT64_MAX) widest_ = tried;
    bounds_.clear();
    for (const FunctionPlan& plan : decided.functions)
      bounds_.push_back(plan.found ? plan.found->bound : 0);
  }

  void tell(Parallel& decided) const {
    for (std::size_t i = 0; i < decided.functions.size(); ++i)
      if (auto& found = decided.functions[i].found) {
        found->bound = std::min(found->bound, bounds_[i]);
        found->memory = limit_;
        found->seconds = seconds();
      }
  }

  Reason why_not() const {
    const auto text = [](std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); };
    if (is_over())
      return reason(
          "the search was stopped before it had found a plan whose program takes at most {} of a "
          "device{}",
          text(limit_),
          least_ == INT64_MAX ? "" : fmt::format(": the best one so far takes {}", text(least_)));
    if (least_ == INT64_MAX) return *no_plan_;
    return reason(
        "no plan was found whose program takes at most {} of a device: the best one takes {} when "
        "it is compiled. Give it more memory, more devices, or a smaller batch",
        text(limit_), text(least_));
  }

  const Program& core_;
  const Target& target_;
  const MicroBatches* const cut_;
  const std::int64_t limit_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  SearchesByLimit& done_;
  std::vector<std::int64_t> looked_;
  std::int64_t best_ = 0;        // the limit with which it was found; 0: nothing fits yet
  std::int64_t nothing_at_ = 0;  // up to this a search finds nothing
  double guess_ = 0;
  bool any_will_do_ = false;
  bool fits_ = false;               // what was looked at last
  std::int64_t least_ = INT64_MAX;  // bytes of the programs that were compiled
  std::int64_t widest_ = 0;
  std::optional<Reason> no_plan_;
  std::vector<double> bounds_;  // by function
};

bool is_limited(const Target& target) {
  return target.layouts.search > 0 && target.layouts.device_memory != INT64_MAX;
}

std::int64_t with_three_digits(double bytes) {
  std::int64_t unit = 1;
  while (bytes / static_cast<double>(unit) >= 1000) unit *= 10;
  return static_cast<std::int64_t>(std::ceil(bytes / static_cast<double>(unit))) * unit;
}

}  // namespace

Expected<Spmd> dealt_out(const Program& core, const Target& target, const MicroBatches* cut,
                         SearchesByLimit& done) {
  if (is_limited(target)) return Fitting(core, target, cut, done).run();
  HEDDLE_TRY(Written made, written(core, target, cut));
  return std::move(made.spmd);
}

// Whoever tries it finds what is found here: searches with the same limits.
std::optional<std::int64_t> enough_memory(const Program& core, const Target& target,
                                          const MicroBatches* cut, SearchesByLimit& done) {
  // Who has no time for the search has none for this.
  if (target.layouts.search_seconds > 0 || is_large(core)) return std::nullopt;
  Fitting known(core, target, cut, done);
  if (known.run()) return std::nullopt;
  if (known.least_compiled() == INT64_MAX && !known.look_higher()) return std::nullopt;
  if (!known.look_lower()) return std::nullopt;
  const std::int64_t least = known.least_compiled();
  if (least == INT64_MAX) return std::nullopt;
  for (const double more : {1.0, 1.12, 1.25, 1.4}) {
    if (target.layouts.search_stop.stop_requested()) return std::nullopt;
    Target tried = target;
    tried.layouts.device_memory = with_three_digits(more * static_cast<double>(least));
    if (Fitting(core, tried, cut, done).finds_any()) return tried.layouts.device_memory;
  }
  return std::nullopt;
}

}  // namespace heddle
