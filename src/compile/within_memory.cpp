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

struct Written {
  Spmd spmd;
  std::shared_ptr<Parallel> decided;
};

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

// Searches with other limits than the one that is given, until what is found takes no more than
// that when it is compiled.
class Fitting {
 public:
  Fitting(const Program& core, const Target& target, const MicroBatches* cut)
      : core_(core), target_(target), cut_(cut), limit_(target.layouts.device_memory) {}

  Expected<Spmd> run() {
    const int rounds = is_large(core_) ? 2 : 6;
    std::int64_t tried = limit_;
    for (int round = 0; round < rounds; ++round) {
      HEDDLE_TRY(std::optional<Spmd> found, try_with(tried));
      if (found) return *std::move(found);
      tried = next();
      if (tried == 0 || is_over()) break;
    }
    return why_not();
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }
  bool is_over() const {
    const GivenLayouts& how = target_.layouts;
    return how.search_stop.stop_requested() ||
           (how.search_seconds > 0 && seconds() >= how.search_seconds);
  }

  Expected<std::optional<Spmd>> try_with(std::int64_t tried) {
    constexpr double kLeast = 0.01;
    Target target = target_;
    target.layouts.device_memory = tried;
    double& allowed = target.layouts.search_seconds;
    if (allowed > 0) allowed = std::max(kLeast, allowed - seconds());
    auto made = written(core_, target, cut_);
    if (!made) {
      nothing_at_ = std::max(nothing_at_, tried);
      if (!no_plan_) no_plan_ = made.why();
      return std::optional<Spmd>();
    }
    HEDDLE_TRY(const std::int64_t bytes, bytes_of(made->spmd, target_));
    const std::int64_t counted = counted_by(*made->decided);
    log(kLogPlans, "search: with {} bytes, a plan of {} by its count takes {} as compiled", tried,
        counted, bytes);
    note_bounds(*made->decided);
    if (bytes <= limit_) {
      tell(*made->decided);
      return std::optional(std::move(made->spmd));
    }
    too_much_at_ = std::min(too_much_at_, tried);
    least_ = std::min(least_, bytes);
    // As much less as it was too much.
    guess_ = static_cast<double>(std::min(counted, tried)) * static_cast<double>(limit_) /
             static_cast<double>(bytes);
    return std::optional<Spmd>();
  }

  // Between what is too little for the search and what is too much for the device; 0: nothing is.
  std::int64_t next() const {
    constexpr double kApart = 1.02, kCountedTooMuch = 1.25;
    const auto low = static_cast<double>(nothing_at_), high = static_cast<double>(too_much_at_);
    // What the search counts may be more than what is taken.
    if (too_much_at_ == INT64_MAX)
      return nothing_at_ > limit_ ? 0 : static_cast<std::int64_t>(kCountedTooMuch * low);
    if (high <= kApart * std::max(low, 1.0)) return 0;
    double next = std::min(guess_, high / kApart);
    if (next <= kApart * low) next = std::sqrt(low * high);
    return static_cast<std::int64_t>(next);
  }

  // Whatever fits fits a larger limit too: a bound holds that was found with the largest.
  void note_bounds(const Parallel& decided) {
    for (std::size_t i = 0; i < decided.functions.size(); ++i) {
      if (bounds_.size() <= i) bounds_.resize(i + 1, std::numeric_limits<double>::infinity());
      if (const auto& found = decided.functions[i].found)
        bounds_[i] = std::min(bounds_[i], found->bound);
    }
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
  // Limits of a search: up to the first it finds nothing, from the second on what takes too much.
  std::int64_t nothing_at_ = 0, too_much_at_ = INT64_MAX;
  double guess_ = 0;
  std::int64_t least_ = INT64_MAX;  // bytes of the programs that were compiled
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

// The least that a program takes of those that searches find between a limit that is too little
// and none; 0: there is none.
std::int64_t least_compiled(const Program& core, Target target, const MicroBatches* cut) {
  constexpr int kTries = 3;
  std::int64_t least = 0;
  double low = static_cast<double>(target.layouts.device_memory), high = 0;
  target.layouts.device_memory = INT64_MAX;
  for (int i = 0; i <= kTries; ++i) {
    if (i > 0) target.layouts.device_memory = static_cast<std::int64_t>(std::sqrt(low * high));
    const auto made = written(core, target, cut);
    if (made) {
      const auto bytes = bytes_of(made->spmd, target);
      if (bytes && (least == 0 || *bytes < least)) least = *bytes;
      high = static_cast<double>(counted_by(*made->decided));
    } else {
      low = static_cast<double>(target.layouts.device_memory);
    }
    if (high == 0 || high <= 1.02 * low) break;
  }
  return least;
}

}  // namespace

Expected<Spmd> dealt_out(const Program& core, const Target& target, const MicroBatches* cut) {
  if (is_limited(target)) return Fitting(core, target, cut).run();
  HEDDLE_TRY(Written made, written(core, target, cut));
  return std::move(made.spmd);
}

// Whoever tries it finds what is found here: a larger limit may lead to another plan.
std::optional<std::int64_t> enough_memory(const Program& core, const Target& target,
                                          const MicroBatches* cut) {
  // Who has no time for the search has none for this.
  if (target.layouts.search_seconds > 0 || is_large(core)) return std::nullopt;
  const std::int64_t least = least_compiled(core, target, cut);
  if (least == 0) return std::nullopt;
  for (const double more : {1.0, 1.15, 1.4}) {
    if (target.layouts.search_stop.stop_requested()) return std::nullopt;
    Target tried = target;
    tried.layouts.device_memory = with_three_digits(more * static_cast<double>(least));
    if (dealt_out(core, tried, cut)) return tried.layouts.device_memory;
  }
  return std::nullopt;
}

}  // namespace heddle
