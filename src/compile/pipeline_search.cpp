// Stages, micro-batches and meshes together: settings in the order of what is promised, the best
// kept, and those left out that cannot be better.
#include "heddle/pipeline_search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <map>
#include <utility>

#include "compile/distribute.h"
#include "compile/pipeline.h"
#include "compile/pipeline_settings.h"
#include "heddle/log.h"

namespace heddle {

namespace {

// What was found for a setting; 0 where it takes too much memory.
struct Answered {
  PipelineSetting setting;
  double cost = 0;
  bool memory_costs = false;
};

// Settings that are looked at side by side.
constexpr std::size_t kAtATime = 2;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr const char* kNotBetter = "no such plan can be better";
constexpr const char* kNoTime = "there was no time for it";
constexpr const char* kUntried =
    "others that promised more brought nothing: level 3 looks at this one too";
constexpr const char* kTooTight =
    "its stages take too much memory as they are, more so than those of others: level 3 looks "
    "closer";

class PipelineSearcher {
 public:
  PipelineSearcher(const Program& core, const Target& target, std::size_t patience)
      : core_(core), target_(target), patience_(patience) {
    limit_ = std::min(target.layouts.device_memory, memory_wish(target));
    if (target_.layouts.search == 0) target_.layouts.search = 2;
  }

  Expected<FoundPipeline> run() {
    HEDDLE_TRY_VOID(can_search_pipeline(target_));
    found_.target = target_;
    HEDDLE_TRY_VOID(try_all());
    if (!any_) return nothing_fits();
    found_.bound = std::min(bound_, found_.cost);
    found_.seconds = seconds();
    return std::move(found_);
  }

  std::int64_t needed() const { return least_needed_; }

 private:
  bool on_cluster() const { return is_on_cluster(target_); }

  // The first mesh without stages is quick, and most often the one to beat; the others take long,
  // and are given up where a pipeline is better.
  Verdict try_all() {
    const bool may_be_without =
        target_.stages <= 1 && target_.micro_batches <= 1 && target_.pipeline.empty();
    std::vector<std::string> meshes{target_.mesh};
    if (on_cluster()) meshes = meshes_of(*target_.cluster);
    if (!may_be_without) meshes.clear();
    if (!meshes.empty()) try_without({meshes.front()});
    if (any_ && is_stopped()) {  // somebody waits: what others could take is not known
      bound_ = 0;
      return yes();
    }
    HEDDLE_TRY(std::vector<PipelineSetting> settings, all_settings());
    const auto one_stage = std::ranges::stable_partition(
        settings, [](const PipelineSetting& setting) { return setting.stages > 1; });
    try_settings({settings.begin(), one_stage.begin()});
    if (meshes.size() > 1) try_without({meshes.begin() + 1, meshes.end()});
    try_settings({one_stage.begin(), one_stage.end()});
    if (on_cluster()) try_finer();
    try_again();
    return yes();
  }

  // ---- plans without stages and micro-batches

  void try_without(const std::vector<std::string>& meshes) {
    for (std::size_t i = 0; i < meshes.size(); i += kAtATime) {
      const std::atomic<double> to_beat = seconds_to_beat();
      std::vector<std::future<Expected<FoundPlan>>> plans;
      const std::size_t end = std::min(i + kAtATime, meshes.size());
      for (std::size_t k = i; k < end; ++k) {
        TriedPipeline& one = found_.tried.emplace_back();
        one.mesh = meshes[k];
        if (!any_ || !is_over()) {
          plans.push_back(std::async(std::launch::async, [this, &to_beat, tried = on(meshes[k])] {
            Target target = tried;
            if (to_beat < kNever) target.layouts.search_to_beat = &to_beat;
            return found_for(core_, target);
          }));
          continue;
        }
        one.why = kNoTime;
        bound_ = 0;
      }
      for (std::size_t k = 0; k < plans.size(); ++k) {
        const Expected<FoundPlan> plan = plans[k].get();
        note_without(plan, found_.tried[found_.tried.size() - plans.size() + k]);
      }
    }
  }

  // The target without stages and micro-batches.
  Target on(const std::string& mesh) const {
    Target target = in_time();
    target.mesh = mesh;
    target.stages = 1;
    target.micro_batches = 1;
    return target;
  }

  void note_without(const Expected<FoundPlan>& plan, TriedPipeline& one) {
    if (!plan) {
      one.why = plan.reason() == kBeaten ? kNotBetter : plan.reason();
      if (!first_no_) first_no_ = plan.why();
      return;
    }
    one.cost = plan->cost;
    one.bound = plan->bound;
    one.peak_bytes = plan->peak_bytes;
    const bool fits = plan->peak_bytes <= limit_;
    if (fits) {
      bound_ = std::min(bound_, plan->bound);
      without_fits_ = true;
    }
    if (!is_better(fits, plan->cost)) return;
    Target target = on(one.mesh);
    target.layouts = target_.layouts;
    take(std::move(target), {1, 1, 1, true}, plan->cost, fits);
    found_.peak_bytes = plan->peak_bytes;
    found_.times = {};
    found_.times.seconds = plan->cost;
  }

  // What a plan has to take less than to be of use.
  double seconds_to_beat() const { return any_ && found_.fits ? found_.cost : kNever; }

  bool is_better(bool fits, double cost) const {
    if (!any_ || fits != found_.fits) return !any_ || fits;
    return cost < found_.cost;
  }

  void take(Target target, PipelineShape shape, double cost, bool fits) {
    any_ = true;
    found_.target = std::move(target);
    found_.target.stages = 1;  // the mesh says it
    found_.target.chunks = shape.chunks;
    found_.shape = shape;
    found_.cost = cost;
    found_.fits = fits;
    found_.arguments.clear();
    found_.results.clear();
  }

  // ---- stages and micro-batches

  // In the order of what is promised, so that those that cannot win are left out.
  void try_settings(std::vector<PipelineSetting> settings) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      if (settings[i].stages > 1) settings[i].effort = target_.layouts.recompute.value_or(0);
      order.emplace_back(floor_for(settings[i]), i);
    }
    std::ranges::sort(order);
    // Stages that lie along all of the slowest links are often best: one of them comes first.
    const auto likely = std::ranges::find_if(order, [&](const auto& one) {
      const PipelineSetting& setting = settings[one.second];
      return on_cluster() && setting.stages > 1 &&
             setting.stages == target_.cluster->levels.front().size &&
             setting.mesh.starts_with(kStageAxis);
    });
    if (likely != order.end()) std::rotate(order.begin(), likely, likely + 1);
    for (std::size_t i = 0; i < order.size(); i += kAtATime) {
      std::vector<PipelineSetting> some;
      for (std::size_t k = i; k < std::min(i + kAtATime, order.size()); ++k)
        some.push_back(settings[order[k].second]);
      try_together(some);
    }
    try_with_less_memory();
  }

  // Settings whose stages take too much memory cost more searches each: they come when it is known
  // what they have to beat, those first that need the least. Where there is a plan, a few of them.
  void try_with_less_memory() {
    constexpr std::size_t kMostTight = 4;
    std::ranges::stable_sort(open_, {}, [](const Look& look) { return look.limits.go_on->needed; });
    const std::vector<Look> all = std::exchange(open_, {});
    std::size_t tried = 0;
    for (std::size_t i = 0; i < all.size(); i += kAtATime) {
      std::vector<Look> some;
      for (std::size_t k = i; k < std::min(i + kAtATime, all.size()); ++k) {
        some.push_back(all[k]);
        Look& look = some.back();
        look.limits.to_beat = seconds_to_beat();
        const bool can_win = look.limits.go_on->bound < seconds_to_beat();
        const bool is_late = any_ && is_over();
        const std::size_t most = is_enough() ? kAtATime : kMostTight;
        const bool is_one_too_many =
            any_ && found_.fits && target_.layouts.search < 3 && tried >= most;
        look.is_worth_it = can_win && !is_late && !is_one_too_many;
        if (look.is_worth_it) {
          ++tried;
          continue;
        }
        TriedPipeline& one = found_.tried[look.row];
        one.why = !can_win ? kNotBetter : is_late ? kNoTime : kTooTight;
        if (can_win) bound_ = std::min(bound_, one.bound);
      }
      look_closer(some);
    }
  }

  // One device that did everything, in as many micro-batches.
  const PipelineWork& work_for(std::int64_t micro_batches) {
    const auto [at, is_new] = works_.try_emplace(micro_batches);
    if (is_new) at->second = work_of(core_, target_, micro_batches);
    return at->second;
  }
  // What takes as long as a search to know is not asked for when the time is over: 0 then.
  double floor_for(const PipelineSetting& setting) {
    if (any_ && is_over() && !works_.contains(setting.micro_batches)) return 0;
    return floor_of(setting, chunks_for(setting), work_for(setting.micro_batches), target_.cluster);
  }
  std::vector<int> chunks_for(const PipelineSetting& setting) const {
    const bool may_interleave = setting.stages > 1 && setting.micro_batches % setting.stages == 0;
    if (target_.chunks == 0 && may_interleave) return {1, 2};
    return {std::max(1, target_.chunks)};
  }

  Expected<std::vector<PipelineSetting>> all_settings() {
    const std::vector<PipelineSetting> meshes = meshes_with_stages(target_);
    if (meshes.empty()) return no_such_stages(target_);
    std::int64_t batch = 1;
    if (target_.micro_batches == 0) {
      const auto size = batch_size(core_, target_);
      if (!size && any_) {  // without micro-batches there is a plan
        found_.tried.emplace_back().why = size.reason();
        return std::vector<PipelineSetting>();
      }
      if (!size) return size.why();
      batch = *size;
    }
    std::vector<PipelineSetting> settings = with_micro_batches(target_, meshes, batch);
    if (!settings.empty()) return settings;
    const Reason no = no_such_micro_batches(target_, batch);
    if (!any_) return first_no_ ? *first_no_ : no;
    found_.tried.emplace_back().why = no.text;
    return settings;
  }

  // The best settings once more, on meshes on which stages may have shapes of their own. A plan of
  // the coarser mesh is one of theirs, but for what a way over two axes takes longer.
  void try_finer() {
    constexpr std::size_t kMost = 2;
    constexpr double kNear = 1.1;
    const std::size_t most_axes = target_.layouts.search == 3 ? 3 : 2;
    const std::vector<Answered> best = best_answers(kMost);
    if (is_enough() && (best.empty() || best.front().cost > kNear * found_.cost)) return;
    in_vain_ = 0;  // these are few
    const double covered = bound_;
    for (const Answered& one : best) {
      if (one.cost > kNear * best.front().cost) break;
      double least = one.cost;
      for (const PipelineSetting& setting : finer(one.setting, most_axes)) {
        const double cost = try_setting(setting);
        if (cost <= 0 || cost >= least) break;  // even finer ones would not help
        least = cost;
      }
    }
    // Of finer meshes only one that is taken is in question.
    bound_ = covered;
    for (const TriedPipeline& tried : found_.tried)
      if (any_ && tried.mesh == found_.target.mesh && tried.cost > 0)
        bound_ = std::min(bound_, tried.bound);
  }

  // Where memory keeps the best setting from a better cut, or all from any, more and more is
  // computed again, as long as that pays.
  void try_again() {
    if (target_.layouts.recompute || limit_ == INT64_MAX) return;
    constexpr std::size_t kMostFull = 3;
    std::vector<Answered> looked = best_answers(1);
    if (!looked.empty() && !looked.front().memory_costs) return;
    if (looked.empty() && any_ && found_.fits) return;
    if (looked.empty()) {
      looked = full_;
      looked.resize(std::min(kMostFull, looked.size()));
    }
    for (const Answered& one : looked) {
      double least = one.cost;
      for (int effort : {2, 8, 1024}) {
        PipelineSetting again = one.setting;
        again.effort = effort;
        const double cost = try_setting(again);
        if (cost > 0 && least > 0 && cost >= least) break;
        if (cost > 0) least = cost;
      }
      if (least > 0) return;
    }
  }

  std::vector<Answered> best_answers(std::size_t most) {
    std::ranges::stable_sort(answered_, {}, &Answered::cost);
    return {answered_.begin(),
            answered_.begin() + static_cast<std::ptrdiff_t>(std::min(most, answered_.size()))};
  }

  // A setting on its way: whether it is worth a look, and what was found.
  struct Look {
    PipelineSetting setting;
    std::size_t row = 0;  // of what was tried
    std::vector<int> chunks = {};
    bool is_worth_it = false;
    SettingLimits limits = {};
    SettingOutcome outcome = {};
  };

  // What it takes; 0 where nobody knows.
  double try_setting(const PipelineSetting& setting) { return try_together({setting}).front(); }

  // They know nothing of each other, so that the answer is the same however many threads there are.
  std::vector<double> try_together(const std::vector<PipelineSetting>& settings) {
    std::vector<Look> looks;
    for (const PipelineSetting& setting : settings) looks.push_back(look_at(setting));
    return look_closer(looks);
  }

  std::vector<double> look_closer(std::vector<Look>& looks) {
    std::vector<std::future<void>> others;
    const Target target = in_time();
    for (Look& look : looks)
      if (look.is_worth_it)
        others.push_back(std::async(std::launch::async, [&] {
          look.outcome = answer_for(core_, target, look.setting, look.chunks, look.limits);
        }));
    for (std::future<void>& other : others) other.get();
    std::vector<double> costs;
    for (Look& look : looks) costs.push_back(look.is_worth_it ? note(look) : 0);
    return costs;
  }

  Look look_at(const PipelineSetting& setting) {
    Look look{.setting = setting, .row = found_.tried.size()};
    TriedPipeline& one = found_.tried.emplace_back();
    one.mesh = setting.mesh;
    one.axis = setting.axis;
    one.effort = setting.effort;
    one.shape = {setting.stages, static_cast<int>(setting.micro_batches), 1, true};
    if (setting.stages == 1 && without_fits_ && target_.micro_batches == 0) {
      one.why = "it takes at least as long as without micro-batches, which fit";
      return look;
    }
    look.chunks = chunks_for(setting);
    one.bound = floor_for(setting);
    if (one.bound >= seconds_to_beat()) {
      one.why = kNotBetter;
      return look;
    }
    one.untried = setting.stages > 1 && setting.effort == 0 && is_enough();
    if (one.untried || (any_ && is_over())) {
      one.why = one.untried ? kUntried : kNoTime;
      bound_ = std::min(bound_, one.bound);
      return look;
    }
    look.limits = {limit_, &work_for(setting.micro_batches), seconds_to_beat()};
    // Those with an effort are tried for their memory.
    look.limits.once = setting.effort == 0 && setting.stages > 1;
    look.is_worth_it = true;
    return look;
  }

  // Settings come in the order of what they promise: where several of them in a row bring nothing,
  // the others are left with their floors. Counted, so that the answer is the same everywhere.
  bool is_enough() const {
    if (!any_ || !found_.fits || target_.layouts.search >= 3) return false;
    constexpr std::size_t kLeast = 4, kOps = 100'000;
    const std::size_t ops =
        works_.empty() ? 1 : std::max<std::size_t>(1, works_.begin()->second.ops);
    return in_vain_ >= (patience_ > 0 ? patience_ : std::max(kLeast, kOps / ops));
  }

  double note(Look& look) {
    const double before = seconds_to_beat();
    const double cost = note_answer(look);
    if (look.setting.stages > 1) in_vain_ = seconds_to_beat() < before ? 0 : in_vain_ + 1;
    return cost;
  }

  double note_answer(Look& look) {
    const PipelineSetting& setting = look.setting;
    TriedPipeline& one = found_.tried[look.row];
    const Expected<PipelineAnswer>& answer = look.outcome.answer;
    if (look.outcome.beaten) {
      one.why = kNotBetter;
      one.bound = std::max(one.bound, look.limits.to_beat);
      return 0;
    }
    if (look.outcome.is_open) {
      one.bound = std::max(one.bound, look.outcome.memory.bound);
      look.limits.once = false;
      look.chunks = look.outcome.chunks;
      look.limits.go_on = look.outcome.memory;
      open_.push_back(look);
      return 0;
    }
    if (!answer) {
      one.why = answer.reason();
      note_no(answer.why(), look.outcome.memory.needed);
      if (setting.stages > 1 && setting.effort == 0) full_.push_back({setting});
      log(kLogSteps, "pipeline: {} with {} micro-batches: {}", setting.mesh, setting.micro_batches,
          one.why);
      return 0;
    }
    one.shape = answer->shape;
    one.cost = answer->times.seconds;
    one.bound = std::max(one.bound, answer->bound);
    one.peak_bytes = answer->peak_bytes;
    bound_ = std::min(bound_, one.bound);
    log(kLogSteps, "pipeline: {} with {} micro-batches takes {:.3g} ms, at least {:.3g} ms",
        setting.mesh, setting.micro_batches, one.cost * 1e3, one.bound * 1e3);
    if (setting.stages > 1) answered_.push_back({setting, one.cost, answer->memory_costs});
    if (is_better(true, one.cost)) take_answer(setting, *answer);
    return one.cost;
  }

  void take_answer(const PipelineSetting& setting, const PipelineAnswer& answer) {
    Target target = target_;
    target.mesh = setting.mesh;
    target.pipeline = setting.axis;
    target.micro_batches = setting.micro_batches;
    if (!setting.axis.empty()) {
      target.cut = answer.cut;
      target.layouts.recompute = setting.effort;
      if (answer.cut.memory != INT64_MAX || answer.lies_as_said) lay_as_found(answer, target);
    }
    take(std::move(target), answer.shape, answer.times.seconds, true);
    found_.times = answer.times;
    found_.peak_bytes = answer.peak_bytes;
    found_.arguments = answer.arguments;
    found_.results = answer.results;
  }

  // In the order of stages more is held by the search's count than a stage ever does: so that how
  // values lie because memory was short is said, and not searched for again with a limit.
  static void lay_as_found(const PipelineAnswer& answer, Target& target) {
    std::vector<ShardEntry> found;
    const auto add = [&](const char* word, const std::vector<FoundPipeline::Value>& values) {
      for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i].type.is_tensor())
          found.push_back({fmt::format("{}{}", word, i), values[i].sharding, {}, true});
    };
    add("arg", answer.arguments);
    add("result", answer.results);
    std::vector<ShardEntry>& shards = target.layouts.shards;
    shards.insert(shards.begin(), found.begin(), found.end());
    target.cut->memory = INT64_MAX;
  }

  // ---- time, of all settings together

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }
  bool is_stopped() const { return target_.layouts.search_stop.stop_requested(); }
  bool is_over() const {
    const double allowed = target_.layouts.search_seconds;
    return is_stopped() || (allowed > 0 && seconds() >= allowed);
  }
  Target in_time() const {
    constexpr double kLeast = 0.01;
    Target target = target_;
    double& allowed = target.layouts.search_seconds;
    if (allowed > 0) allowed = std::max(kLeast, allowed - seconds());
    return target;
  }

  // Of reasons that name a memory that would do, the least is the one to tell.
  void note_no(const Reason& why, std::int64_t needed) {
    const bool less = needed > 0 && (least_needed_ == 0 || needed < least_needed_);
    if (!first_no_ || (less && least_needed_ > 0)) first_no_ = why;
    if (less) least_needed_ = needed;
  }

  Reason nothing_fits() const {
    return first_no_ ? *first_no_ : reason("no plan fits the memory of the cluster");
  }

  const Program& core_;
  Target target_;
  const std::size_t patience_;
  std::int64_t limit_ = INT64_MAX;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  FoundPipeline found_;
  bool any_ = false, without_fits_ = false;
  double bound_ = 1e300;
  std::size_t in_vain_ = 0;                     // settings since the last that was better
  std::vector<Answered> answered_, full_;       // with stages
  std::vector<Look> open_;                      // whose stages take too much memory
  std::map<std::int64_t, PipelineWork> works_;  // by number of micro-batches
  std::optional<Reason> first_no_;
  std::int64_t least_needed_ = 0;  // bytes of a device; 0: nobody knows
};

}  // namespace

Expected<FoundPipeline> best_of_settings(const Program& core, const Target& target,
                                         std::int64_t& needed, std::size_t patience) {
  PipelineSearcher searcher(core, target, patience);
  auto found = searcher.run();
  needed = found ? 0 : searcher.needed();
  return found;
}

}  // namespace heddle
