#include "report/pipeline.h"

#include "base/text.h"
#include "heddle/pipeline_report.h"
#include "report/json.h"
#include "report/table.h"
#include "report/words.h"

namespace heddle {

namespace {

std::string short_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

PipelineReport::Stage stage_of(const FoundPipeline& found, int s) {
  const PipelineTimes::Stage& times = found.times.stages[static_cast<std::size_t>(s)];
  PipelineReport::Stage stage;
  stage.busy = times.busy;
  stage.peak_bytes = times.peak_bytes;
  for (const PipelineTimes::Span& span : times.spans) {
    const double seconds = span.end - span.begin;
    if (span.task.kind == PipelineTask::Kind::update) stage.update = seconds;
    if (span.task.micro_batch > 0) continue;
    if (span.task.kind == PipelineTask::Kind::forward) stage.forward += seconds;
    if (span.task.kind == PipelineTask::Kind::backward) stage.backward += seconds;
  }
  if (found.target.cut)
    for (int position : found.target.cut->positions)
      if (position >= 0 && position < found.shape.positions() &&
          found.shape.stage_of(position) == s)
        ++stage.ops;
  return stage;
}

std::string devices_text(const std::string& mesh, const PipelineShape& shape) {
  std::string text = mesh;
  if (shape.stages > 1) text += fmt::format(", {} stages", shape.stages);
  if (shape.micro_batches > 1) text += fmt::format(", {} micro-batches", shape.micro_batches);
  if (shape.chunks > 1) text += fmt::format(", interleaved by {}", shape.chunks);
  return text;
}

}  // namespace

PipelineReport pipeline_report(const FoundPipeline& found) {
  PipelineReport report;
  report.mesh = found.target.mesh;
  report.axis = found.target.pipeline;
  report.stages = found.shape.stages;
  report.interleave = found.shape.chunks;
  report.micro_batches = found.shape.micro_batches;
  report.cost = found.cost;
  report.bound = found.bound;
  report.gap = found.gap();
  report.seconds = found.seconds;
  report.bubble = found.times.bubble;
  report.fits = found.fits;
  report.tried = found.tried;
  if (found.target.cut) {
    std::vector<int> positions = found.target.cut->positions;
    // What is done once lies with its parameters, of itself.
    for (int& position : positions)
      if (position >= found.shape.positions()) position = -1;
    report.cut = cut_text(positions);
  }
  for (int s = 0; s < static_cast<int>(found.times.stages.size()); ++s)
    report.per_stage.push_back(stage_of(found, s));
  return report;
}

std::string PipelineReport::text() const {
  const PipelineShape shape{stages, static_cast<int>(micro_batches), interleave, true};
  std::string text = fmt::format(
      "best of {} in {}: {}\n{} per step as predicted, and none takes less than {} (gap {:.2g} "
      "%){}\n",
      counted(tried.size(), "setting"), short_seconds(seconds), devices_text(mesh, shape),
      short_seconds(cost), short_seconds(bound), 100 * gap,
      fits ? "" : "; no plan was found that fits the memory of the cluster");
  if (stages > 1) text += fmt::format("stages wait for {:.3g} % of a step\n", 100 * bubble);
  report::Table table({{.least = 9, .gap = 1}, {}, {}, {}, {}, {}}, 2);
  for (std::size_t s = 0; s < per_stage.size(); ++s) {
    const Stage& stage = per_stage[s];
    table.add({fmt::format("stage {}", s), fmt::format("forward {}", short_seconds(stage.forward)),
               fmt::format("back {}", short_seconds(stage.backward)),
               fmt::format("update {}", short_seconds(stage.update)),
               fmt::format("busy {}", short_seconds(stage.busy)),
               report::bytes_text(stage.peak_bytes) + " each"});
  }
  return text + table.text();
}

namespace report {

Json pipeline_json(const PipelineReport& pipeline) {
  Json one = {{"mesh", pipeline.mesh},
              {"stages", pipeline.stages},
              {"micro_batches", pipeline.micro_batches},
              {"interleave", pipeline.interleave},
              {"bubble", pipeline.bubble},
              {"fits", pipeline.fits},
              {"cost", pipeline.cost},
              {"bound", pipeline.bound},
              {"gap", pipeline.gap},
              {"seconds", pipeline.seconds}};
  if (!pipeline.axis.empty()) one["axis"] = pipeline.axis;
  if (!pipeline.cut.empty()) one["cut"] = pipeline.cut;
  one["per_stage"] = Json::array();
  for (const PipelineReport::Stage& stage : pipeline.per_stage)
    one["per_stage"].push_back({{"forward_seconds", stage.forward},
                                {"backward_seconds", stage.backward},
                                {"update_seconds", stage.update},
                                {"busy_seconds", stage.busy},
                                {"peak_bytes", stage.peak_bytes},
                                {"ops", stage.ops}});
  one["tried"] = Json::array();
  for (const TriedPipeline& tried : pipeline.tried) {
    Json row = {{"mesh", tried.mesh},
                {"stages", tried.shape.stages},
                {"micro_batches", tried.shape.micro_batches},
                {"interleave", tried.shape.chunks}};
    if (tried.cost > 0) {
      row["cost"] = tried.cost;
      row["peak_bytes"] = tried.peak_bytes;
    }
    if (tried.bound > 0) row["bound"] = tried.bound;
    if (!tried.why.empty()) row["why"] = tried.why;
    one["tried"].push_back(std::move(row));
  }
  return one;
}

}  // namespace report

}  // namespace heddle
