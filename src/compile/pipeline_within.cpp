// Pipelines whose stages really fit: what is counted is compared with what is compiled.
#include <algorithm>

#include "base/text.h"
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

Expected<FoundPipeline> found_within(const Program& core, const Target& target) {
  const std::int64_t limit = target.layouts.device_memory;
  if (limit == INT64_MAX) return best_of_settings(core, target);
  constexpr int kRounds = 4;
  constexpr double kSome = 0.97;
  Target tried = target;
  std::int64_t least = INT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    auto found = best_of_settings(core, tried);
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
  const auto text = [](std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); };
  return reason(
      "no pipeline was found whose stages take at most {} of a device: the best one takes {} when "
      "it is compiled. Give it more memory, more stages, or more micro-batches",
      text(limit), text(least));
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
