#include "python/target_words.h"

#include <fmt/format.h>

#include "heddle/pipeline_search.h"
#include "heddle/plan_file.h"
#include "heddle/signature.h"
#include "heddle/tune_schedule.h"

namespace heddle::python {

Target target_from(const Program& program, const TargetWords& words) {
  Target target;
  target.mesh = words.mesh;
  target.ranks = words.ranks;
  target.rank = words.rank;
  target.pipeline = words.pipeline;
  target.stages = words.stages;
  if (!words.plan.empty()) {
    const PlanFile file = read_plan_file(words.plan).value();
    if (target.mesh.empty()) target.mesh = file.mesh;
    take_plan(target, file).value();
  }
  if (words.micro_batches != 1) target.micro_batches = words.micro_batches;
  // Stages without micro-batches would wait for each other.
  if (words.stages != 1 && words.micro_batches == 1) target.micro_batches = 0;
  if (words.interleave > 0)
    target.chunks = words.interleave;
  else if (searches_pipeline(target))
    target.chunks = 0;
  for (const auto& [name, layout] : words.layouts)
    target.layouts.shards.push_back({name, layout, fmt::format("layouts[{}]", name)});
  for (const auto& [argument, result] : words.carried) target.carried.push_back({argument, result});
  target.options.entry = entry_of(program);
  target.options.donated = words.donated;
  if (!words.schedule.empty() && words.schedule != kAutomaticSchedule)
    target.schedule = parse_schedule(words.schedule, "schedule").value();
  if (words.device != "cpu") target.options.device = find_device(words.device).value();
  if (words.schedule == kAutomaticSchedule)
    target.schedule = tune_schedule(program, target).value().schedule;
  return target;
}

}  // namespace heddle::python
