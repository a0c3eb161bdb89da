// The plan of a pipeline as values: that of its micro-batch, with who has what and does it when.
#include <algorithm>

#include "heddle/compile.h"
#include "heddle/plan_report.h"
#include "report/layout_words.h"
#include "report/planned.h"
#include "report/words.h"

namespace heddle {
namespace {

// Of the op that needs it; -1: what comes after all micro-batches.
int stage_of(const Pipeline& pipeline, OpId op) {
  const int position = op == kNone ? -1 : pipeline.cut.position_of(op);
  return position < 0 ? -1 : pipeline.cut.shape.stage_of(position);
}

void add_stages(const Pipeline& pipeline, PlannedFunction& plan) {
  const SpmdFunction& part = *pipeline.spmd.find(plan.name);
  const Mesh& mesh = pipeline.spmd.program.meshes[part.mesh].mesh;
  const auto add = [&](std::vector<PlannedFunction::Value>& values,
                       const std::vector<Split>& splits, const std::vector<Type>& types,
                       const std::vector<StagesOfValue>& lie) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i].sharding = text_of(splits[i], mesh);  // of each micro-batch, as a plan file has it
      values[i].stages = lie[i].stages;
      for (const std::vector<RowRange>& ranges : lie[i].rows) {
        std::int64_t& rows = values[i].rows.emplace_back(0);
        for (const RowRange& range : ranges) rows += range.count();
      }
      if (values[i].rows.empty()) continue;
      Type most = local_type(types[i], splits[i]);
      most.shape[0] = std::ranges::max(values[i].rows);
      values[i].part = most.str();
    }
  };
  add(plan.arguments, part.arguments, part.argument_types, pipeline.programs.arguments);
  add(plan.results, part.results, part.result_types, pipeline.programs.results);
  for (std::size_t i = 0; i < plan.moved.size(); ++i) {
    const Communication& c = pipeline.whole.communications[i];
    plan.moved[i].stage = stage_of(pipeline, c.needed_by);
    if (plan.moved[i].stage >= 0) plan.moved[i].times = pipeline.micro_batches();
  }
}

PlannedFunction::Timeline timeline_of(const PipelineTimes& times) {
  PlannedFunction::Timeline timeline;
  for (std::size_t s = 0; s < times.stages.size(); ++s) {
    timeline.lanes.push_back(fmt::format("stage {}", s));
    for (const PipelineTimes::Span& span : times.stages[s].spans)
      timeline.spans.push_back({s, span.begin, span.end, std::string(name(span.task.kind)),
                                span.task.micro_batch, span.task.chunk, span.bytes});
  }
  return timeline;
}

// What was found of all stages together is no step of theirs.
void set_costs(const PipelineReport& pipeline, PlannedFunction& plan) {
  plan.peak_bytes = 0;
  for (const PipelineReport::Stage& stage : pipeline.per_stage)
    plan.peak_bytes = std::max(plan.peak_bytes, stage.peak_bytes);
  plan.compute_seconds.reset();
  plan.bring_seconds.reset();
  if (!plan.search) return;
  plan.search->effort = pipeline.effort;
  plan.search->cost = pipeline.cost;
  plan.search->bound = pipeline.bound;
  plan.search->gap = pipeline.gap;
  plan.search->seconds = pipeline.seconds;
  plan.search->peak_bytes = plan.peak_bytes;
}

std::string too_little(const PipelineReport& pipeline, std::int64_t memory) {
  for (std::size_t s = 0; s < pipeline.per_stage.size(); ++s)
    if (const std::int64_t needed = pipeline.per_stage[s].peak_bytes; needed > memory)
      return fmt::format(
          "memory: a device of stage {} needs {} as counted, and each has {}\n  take more stages "
          "or "
          "micro-batches, split it over more devices, or give it more memory",
          s, report::bytes_text(needed), report::bytes_text(memory));
  return "";
}

}  // namespace

PlanReport plan_report(const Pipeline& pipeline, const FoundPipeline* found,
                       const PlanReportOptions& options) {
  const Spmd& spmd = pipeline.spmd;
  PlanReport report = report::plan_head(spmd, options);
  report.pipeline = pipeline_report(pipeline, found);
  PlannedFunction& plan =
      report.functions.emplace_back(report::planned_on_mesh(spmd, pipeline.whole, options.explain));
  plan.mesh = pipeline.mesh;
  plan.devices = pipeline.placement.devices();
  add_stages(pipeline, plan);
  set_costs(*report.pipeline, plan);
  plan.timeline = timeline_of(pipeline.times);
  if (options.memory) report.failure = too_little(*report.pipeline, *options.memory);
  return report;
}

PlanReport plan_report(const Spmd& spmd, const FoundPipeline& found,
                       const PlanReportOptions& options) {
  PlanReport report = plan_report(spmd, options);
  PipelineReport& pipeline = report.pipeline.emplace(pipeline_report(found));
  // A search that was stopped is done to its end on the mesh that it chose: that plan is told.
  for (const PlannedFunction& f : report.functions)
    if (f.search && f.search->cost < pipeline.cost) {
      pipeline.cost = f.search->cost;
      pipeline.bound = std::min(pipeline.bound, pipeline.cost);
      pipeline.gap = 1 - pipeline.bound / pipeline.cost;
    }
  return report;
}

Expected<PlanReport> plan_report(const Program& program, const Target& target,
                                 const PlanReportOptions& options) {
  Target told = target;
  std::optional<FoundPipeline> found;
  if (searches_pipeline(target)) {
    HEDDLE_TRY(found, search_pipeline(program, target));
    told = found->target;
  }
  if (!told.pipeline.empty()) {
    HEDDLE_TRY(const Pipeline pipeline, distribute_pipeline(program, told, false));
    return plan_report(pipeline, found ? &*found : nullptr, options);
  }
  HEDDLE_TRY(const Spmd spmd, distribute(program, told));
  return found ? plan_report(spmd, *found, options) : plan_report(spmd, options);
}

}  // namespace heddle
