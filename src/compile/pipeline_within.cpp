// Pipelines whose stages really fit: what is counted is compared with what is compiled.
#include <algorithm>

#include "base/text.h"
#include "compile/distribute.h"
#include "compile/pipeline.h"
#include "compile/stages.h"
#include "heddle/log.h"
#include "heddle/pipeline_search.h"

namespace heddle {

namespace {

// Stages are written out micro-batch by micro-batch: more than this takes long to compile.
bool is_quick_to_compile(const Program& core, const Target& target) {
  constexpr std::int64_t kMostOps = 40'000;
  return static_cast<std::int64_t>(core.op_count()) * target.micro_batches <= kMostOps;
}

// What the fullest stage takes; none where nobody compiles it to know.
Expected<std::optional<std::int64_t>> compiled_bytes(const Program& core, const Target& target) {
  if (target.pipeline.empty() || !is_quick_to_compile(core, target))
    return std::optional<std::int64_t>();
  HEDDLE_TRY(const std::int64_t bytes, bytes_of_stages(core, target));
  return std::optional(bytes);
}

Expected<FoundPipeline> found_as_compiled(const Program& core, const Target& target,
                                          std::int64_t& needed) {
  const std::int64_t limit = target.layouts.device_memory;
  if (limit == INT64_MAX) return best_of_settings(core, target, needed);
  constexpr int kRounds = 4;
  constexpr double kSome = 0.97;
  Target tried = target;
  std::int64_t least = INT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    auto found = best_of_settings(core, tried, needed);
    if (!found && least == INT64_MAX) return found;
    if (!found) break;
    found->target.layouts.device_memory = limit;
    HEDDLE_TRY(const auto bytes, compiled_bytes(core, found->target));
    if (!bytes) return found;
    log(kLogPlans, "pipeline: with {} bytes, stages of {} by their count take {} as compiled",
        tried.layouts.device_memory, found->peak_bytes, *bytes);
    if (*bytes <= limit) return found;
    least = std::min(least, *bytes);
    const double share = static_cast<double>(limit) / static_cast<double>(*bytes);
    const auto counted =
        static_cast<double>(std::min(found->peak_bytes, tried.layouts.device_memory));
    tried.layouts.device_memory = static_cast<std::int64_t>(kSome * share * counted);
  }
  needed = least;
  const auto text = [](std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); };
  return reason(
      "no pipeline was found whose stages take at most {} of a device: the best one takes {} when "
      "it is compiled",
      text(limit), text(least));
}

// With two digits, no less, so that what is said is what was tried.
std::int64_t rounded_up(std::int64_t bytes) {
  std::int64_t unit = 1;
  while (bytes / unit >= 100) unit *= 10;
  return (bytes + unit - 1) / unit * unit;
}

// What was too little memory, with the smallest changes that were tried and do. A large program
// would take too long for that.
class Changes {
 public:
  Changes(const Program& core, const Target& target) : core_(core), target_(target) {}

  Reason added_to(const Reason& why, std::int64_t needed) {
    constexpr std::size_t kMostOps = 8000;
    const GivenLayouts& given = target_.layouts;
    if (core_.op_count() > kMostOps || given.search_seconds > 0 ||
        given.search_stop.stop_requested())
      return why;
    try_memory(needed);
    for (std::int64_t times : {2, 4}) {
      Target more = target_;
      more.micro_batches *= times;
      if (target_.micro_batches > 1 && does(more)) {
        add(fmt::format("with {} micro-batches", more.micro_batches));
        break;
      }
    }
    Target more = target_;
    more.stages *= 2;
    if (target_.stages > 1 && target_.pipeline.empty() && does(more))
      add(fmt::format("with {} stages", more.stages));
    return Reason{why.text + would_do_};
  }

 private:
  void try_memory(std::int64_t needed) {
    if (target_.layouts.device_memory == INT64_MAX) return;
    for (double times : {1.0, 1.25, 1.6, 2.0, 3.0, 4.0}) {
      Target more = target_;
      const auto bytes = static_cast<std::int64_t>(times * static_cast<double>(needed));
      more.layouts.device_memory = rounded_up(bytes);
      if (!does(more)) continue;
      add(fmt::format("with {} of each device",
                      format_bytes(static_cast<double>(more.layouts.device_memory))));
      return;
    }
  }

  bool does(const Target& changed) const {
    std::int64_t needed = 0;
    return found_as_compiled(core_, changed, needed).ok();
  }

  void add(const std::string& what) {
    would_do_ += (would_do_.empty() ? "\n  there is a plan " : ", or ") + what;
  }

  const Program& core_;
  const Target& target_;
  std::string would_do_;
};

Expected<FoundPipeline> found_within(const Program& core, const Target& target) {
  std::int64_t needed = 0;
  auto found = found_as_compiled(core, target, needed);
  if (found || needed == 0) return found;
  return Changes(core, target).added_to(found.why(), needed);
}

}  // namespace

bool searches_pipeline(const Target& target) {
  const bool without_cut = !target.pipeline.empty() && !target.cut && target.layouts.search > 0;
  return target.stages != 1 || target.micro_batches == 0 || without_cut;
}

Expected<Target> with_best_pipeline(const Program& core, const Target& target) {
  if (!searches_pipeline(target)) return target;
  HEDDLE_TRY(FoundPipeline found, found_within(core, target));
  return std::move(found.target);
}

Expected<FoundPipeline> search_pipeline(const Program& program, const Target& target) {
  Stages stages(target.options);
  HEDDLE_TRY(const Program core, program_to_deal(program, target, stages));
  return found_within(core, target);
}

}  // namespace heddle
