#include "report/pipeline.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "heddle/pipeline_report.h"
#include "report/json.h"
#include "report/layout_words.h"
#include "report/table.h"
#include "report/words.h"

namespace heddle {

using report::exact_seconds;

namespace {

PipelineReport::Stage stage_of(const PipelineTimes& all, const StageCut* cut, int s) {
  const PipelineTimes::Stage& times = all.stages[static_cast<std::size_t>(s)];
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
  if (cut != nullptr)
    for (int position : cut->positions)
      if (position >= 0 && position < cut->shape.positions() && cut->shape.stage_of(position) == s)
        ++stage.ops;
  return stage;
}

// How the devices of a stage share what it does.
void add_sharing(const Pipeline& pipeline, int s, PipelineReport::Stage& stage) {
  const Program& logical = pipeline.spmd.logical();
  const Decisions* const decisions = report::decisions_of(pipeline.spmd, pipeline.whole.name);
  const Function* const function = logical.find_function(pipeline.whole.name);
  if (decisions == nullptr || function == nullptr) return;
  report::PartOfFunction part;
  for (OpId id = 0; id < logical.op_count(); ++id) {
    const int position = pipeline.cut.position_of(id);
    part.ops.push_back(position >= 0 && pipeline.cut.shape.stage_of(position) == s);
  }
  for (const StagesOfValue& on : pipeline.programs.arguments)
    part.arguments.push_back(std::ranges::find(on.stages, s) != on.stages.end());
  part.arguments.push_back(false);  // the number of the micro-batch
  stage.shape = report::effective_shape(*decisions, *function, part);
  for (PlannedFunction::AxisWords& axis : report::layout_words(*decisions, *function, part))
    stage.layout.emplace_back(std::move(axis.axis), std::move(axis.text));
  for (const Communication& c : pipeline.whole.communications)
    if (c.needed_by != kNone && part.ops[c.needed_by])
      stage.received += pipeline.micro_batches() * c.bytes;
}

std::vector<PipelineReport::Messages> messages_of(const Pipeline& pipeline) {
  std::map<std::pair<int, int>, PipelineReport::Messages> all;
  for (const StageChannel& channel : pipeline.programs.channels) {
    PipelineReport::Messages& one = all[{channel.from, channel.to}];
    one.from = channel.from;
    one.to = channel.to;
    one.count += channel.messages;
    one.bytes += channel.bytes;
  }
  std::vector<PipelineReport::Messages> list;
  for (const auto& [ends, messages] : all) list.push_back(messages);
  return list;
}

std::string devices_text(const std::string& mesh, const PipelineShape& shape) {
  std::string text = mesh;
  if (shape.stages > 1) text += fmt::format(", {} stages", shape.stages);
  if (shape.micro_batches > 1) text += fmt::format(", {} micro-batches", shape.micro_batches);
  if (shape.chunks > 1) text += fmt::format(", interleaved by {}", shape.chunks);
  return text;
}

}  // namespace

std::string setting_text(const FoundPipeline& found) {
  return devices_text(found.target.mesh, found.shape);
}

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
  const StageCut* const cut = found.target.cut ? &*found.target.cut : nullptr;
  for (int s = 0; s < static_cast<int>(found.times.stages.size()); ++s)
    report.per_stage.push_back(stage_of(found.times, cut, s));
  return report;
}

PipelineReport pipeline_report(const Pipeline& pipeline, const FoundPipeline* found) {
  PipelineReport report;
  report.searched = found != nullptr;
  if (found != nullptr) report = pipeline_report(*found);
  report.per_stage.clear();
  const PipelineShape& shape = pipeline.cut.shape;
  report.mesh = pipeline.mesh;
  report.axis = pipeline.axis;
  report.stages = shape.stages;
  report.interleave = shape.chunks;
  report.micro_batches = shape.micro_batches;
  report.cost = pipeline.times.seconds;
  report.bubble = pipeline.times.bubble;
  report.gap = report.searched ? std::max(0.0, 1 - report.bound / report.cost) : 0;
  report.messages = messages_of(pipeline);
  report.effort = pipeline.effort;
  for (int s = 0; s < shape.stages; ++s) {
    report.per_stage.push_back(stage_of(pipeline.times, &pipeline.cut, s));
    add_sharing(pipeline, s, report.per_stage.back());
  }
  return report;
}

namespace {

// Only where stages differ is it worth to tell them apart.
bool is_alike(const std::vector<PipelineReport::Stage>& stages) {
  return std::ranges::all_of(stages, [&](const PipelineReport::Stage& stage) {
    return stage.shape == stages.front().shape;
  });
}

// A row without a mesh says why there are no others.
std::size_t looked_at(const std::vector<TriedPipeline>& tried) {
  return static_cast<std::size_t>(
      std::ranges::count_if(tried, [](const TriedPipeline& one) { return !one.mesh.empty(); }));
}
std::size_t untried_of(const std::vector<TriedPipeline>& tried) {
  return static_cast<std::size_t>(std::ranges::count_if(tried, &TriedPipeline::untried));
}

std::string messages_text(const std::vector<PipelineReport::Messages>& messages) {
  constexpr std::size_t kMost = 16;
  report::Table table({{.least = 9, .gap = 1}, {.right = true}, {.right = true}}, 2);
  for (std::size_t i = 0; i < messages.size() && i < kMost; ++i)
    table.add({fmt::format("stage {} to {}", messages[i].from, messages[i].to),
               counted(static_cast<std::size_t>(messages[i].count), "message"),
               report::exact_bytes(messages[i].bytes) + " from each device"});
  if (messages.size() > kMost)
    table.add_line(fmt::format("... and {} more (--json has all)", messages.size() - kMost));
  return table.text();
}

}  // namespace

std::string PipelineReport::text() const {
  const PipelineShape shape{stages, static_cast<int>(micro_batches), interleave, true};
  std::string text =
      fmt::format("{}: {} per step as predicted\n", devices_text(mesh, shape), exact_seconds(cost));
  if (searched)
    text = fmt::format("best of {} in {}: {}\n{} per step as predicted, {}{}\n",
                       counted(looked_at(tried), "setting"), exact_seconds(seconds),
                       devices_text(mesh, shape), exact_seconds(cost),
                       report::bound_words("none", bound, gap, "stopped before a bound was known"),
                       fits ? "" : "; no plan was found that fits the memory of the cluster");
  if (const std::size_t untried = untried_of(tried); untried > 0)
    text += fmt::format(
        "{} of them not tried, since others that promised more brought nothing: the "
        "bound holds for these too\n",
        untried);
  for (const TriedPipeline& one : tried)
    if (one.mesh.empty())
      text += fmt::format("no stages and micro-batches were tried: {}\n", one.why);
  if (effort > 0)
    text += fmt::format(
        "values are computed again on the way back instead of being kept (effort {})\n", effort);
  if (stages > 1) text += fmt::format("stages wait for {:.3g} % of a step\n", 100 * bubble);
  report::Table table({{.least = 9, .gap = 1}, {}, {}, {}, {}, {}, {}}, 2);
  const bool alike = is_alike(per_stage);
  for (std::size_t s = 0; s < per_stage.size(); ++s) {
    const Stage& stage = per_stage[s];
    table.add({fmt::format("stage {}", s), fmt::format("forward {}", exact_seconds(stage.forward)),
               fmt::format("back {}", exact_seconds(stage.backward)),
               fmt::format("update {}", exact_seconds(stage.update)),
               fmt::format("busy {}", exact_seconds(stage.busy)),
               report::bytes_text(stage.peak_bytes) + " each", alike ? "" : stage.shape});
  }
  return text + table.text() + messages_text(messages);
}

namespace report {

Json pipeline_json(const PipelineReport& pipeline) {
  Json one = {{"mesh", pipeline.mesh},
              {"stages", pipeline.stages},
              {"micro_batches", pipeline.micro_batches},
              {"interleave", pipeline.interleave},
              {"bubble", pipeline.bubble},
              {"fits", pipeline.fits},
              {"recompute", pipeline.effort},
              {"cost", pipeline.cost}};
  if (pipeline.searched) {
    one["bound"] = pipeline.bound;
    one["gap"] = pipeline.gap;
    one["seconds"] = pipeline.seconds;
  }
  if (!pipeline.axis.empty()) one["axis"] = pipeline.axis;
  if (!pipeline.cut.empty()) one["cut"] = pipeline.cut;
  one["per_stage"] = Json::array();
  for (const PipelineReport::Stage& stage : pipeline.per_stage)
    one["per_stage"].push_back({{"forward_seconds", stage.forward},
                                {"backward_seconds", stage.backward},
                                {"update_seconds", stage.update},
                                {"busy_seconds", stage.busy},
                                {"peak_bytes", stage.peak_bytes},
                                {"received_bytes", stage.received},
                                {"shape", stage.shape},
                                {"layout", stage.layout},
                                {"ops", stage.ops}});
  one["messages"] = Json::array();
  for (const PipelineReport::Messages& m : pipeline.messages)
    one["messages"].push_back(
        {{"from", m.from}, {"to", m.to}, {"count", m.count}, {"bytes", m.bytes}});
  one["not_tried"] = untried_of(pipeline.tried);
  one["tried"] = Json::array();
  for (const TriedPipeline& tried : pipeline.tried) {
    Json row = {{"mesh", tried.mesh},
                {"stages", tried.shape.stages},
                {"micro_batches", tried.shape.micro_batches},
                {"interleave", tried.shape.chunks}};
    if (!tried.axis.empty()) row["axis"] = tried.axis;
    if (tried.cost > 0) {
      row["cost"] = tried.cost;
      row["peak_bytes"] = tried.peak_bytes;
    }
    if (tried.effort > 0) row["recompute"] = tried.effort;
    if (tried.bound > 0) row["bound"] = tried.bound;
    if (!tried.why.empty()) row["why"] = tried.why;
    one["tried"].push_back(std::move(row));
  }
  return one;
}

Json timeline_json(const PlannedFunction::Timeline& timeline, std::size_t most) {
  using Span = PlannedFunction::Timeline::Span;
  std::vector<Span> spans = timeline.spans;
  Json json = {{"lanes", timeline.lanes}, {"spans", Json::array()}};
  if (spans.size() > most) {
    std::ranges::stable_sort(spans, {}, &Span::begin);
    json["left_out"] = spans.size() - most;
    spans.resize(most);
  }
  for (const Span& span : spans)
    json["spans"].push_back({{"lane", span.lane},
                             {"kind", span.kind},
                             {"micro_batch", span.micro_batch},
                             {"chunk", span.chunk},
                             {"begin", span.begin},
                             {"end", span.end},
                             {"bytes", span.bytes}});
  return json;
}

}  // namespace report

}  // namespace heddle
