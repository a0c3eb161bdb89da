#include "heddle/failure_report.h"
#include "heddle/plan_report.h"
#include "report/json.h"
#include "report/pipeline.h"

namespace heddle {

using report::Json;

namespace {

Json values_json(const std::vector<PlannedFunction::Value>& values) {
  Json list = Json::array();
  for (const PlannedFunction::Value& v : values) {
    Json row;
    if (!v.name.empty()) row["name"] = v.name;
    row["type"] = v.type;
    row["sharding"] = v.sharding;
    if (!v.stages.empty()) row["stages"] = v.stages;
    if (!v.rows.empty()) row["rows"] = v.rows;
    list.push_back(std::move(row));
  }
  return list;
}

Json function_json(const PlannedFunction& f) {
  if (f.mesh.empty()) return {{"function", f.name}, {"devices", 1}};
  Json one = {{"function", f.name},
              {"mesh", f.mesh},
              {"devices", f.devices},
              {"arguments", values_json(f.arguments)},
              {"results", values_json(f.results)},
              {"argument_bytes", f.argument_bytes},
              {"result_bytes", f.result_bytes},
              {"peak_bytes", f.peak_bytes}};
  if (f.memory)
    one["memory"] = {{"bytes", f.memory->needed()},
                     {"values", f.memory->values},
                     {"from", f.memory->planned ? "compiled" : "op by op"},
                     {"where", f.memory->peak.where},
                     {"largest", f.memory->peak.largest}};
  if (f.timeline) one["timeline"] = report::timeline_json(*f.timeline);
  if (f.compute_seconds) one["compute_seconds"] = *f.compute_seconds;
  if (f.bring_seconds) one["bring_seconds"] = *f.bring_seconds;
  if (f.search)
    one["search"] = {
        {"cost", f.search->cost},
        {"bound", f.search->bound},
        {"gap", f.search->gap},
        {"communication", {{"seconds", f.search->moves}, {"exposed", f.search->exposed}}},
        {"seconds", f.search->seconds},
        {"ops", f.search->ops},
        {"choices", f.search->choices},
        {"peak_bytes", f.search->peak_bytes},
        {"fits", f.search->too_much == 0},
        {"recompute",
         {{"effort", f.search->effort},
          {"ops", f.search->again},
          {"bytes_saved", f.search->again_bytes},
          {"seconds", f.search->again_seconds}}}};
  one["collectives"] = f.collectives;
  one["communications"] = Json::array();
  for (const PlannedFunction::Moved& m : f.moved) {
    one["communications"].push_back({{"kind", m.kind},
                                     {"over", m.over},
                                     {"bytes", m.bytes},
                                     {"seconds", m.seconds},
                                     {"for", m.needed_by},
                                     {"value", m.value},
                                     {"loops", m.loops}});
    if (!f.timeline) continue;
    if (m.stage >= 0) one["communications"].back()["stage"] = m.stage;
    one["communications"].back()["times"] = m.times;
  }
  one["conflicts"] = Json::array();
  for (const PlannedFunction::Disagreement& c : f.conflicts)
    one["conflicts"].push_back({{"op", c.op}, {"what", c.what}});
  return one;
}

}  // namespace

std::string PlanReport::json() const {
  Json report = {{"ok", failure.empty()}};
  if (!failure.empty()) report.update(report::failure_json(failure, kStatusFailed));
  report["propagate_seconds"] = propagate_seconds;
  report["decide_seconds"] = decide_seconds;
  report["partition_seconds"] = partition_seconds;
  report["ops"] = ops;
  for (const PlannedFunction& f : functions)
    if (f.search) {  // of the one function that was searched
      report["seconds"] = f.search->seconds;
      report["cost"] = f.search->cost;
      report["bound"] = f.search->bound;
      report["gap"] = f.search->gap;
    }
  if (pipeline) {  // of which the plan of a function is a part
    report["cost"] = pipeline->cost;
    if (pipeline->searched) {
      report["seconds"] = pipeline->seconds;
      report["bound"] = pipeline->bound;
      report["gap"] = pipeline->gap;
    } else {  // the search of its layouts says nothing of the whole
      for (const char* key : {"seconds", "bound", "gap"}) report.erase(key);
    }
    report["pipeline"] = report::pipeline_json(*pipeline);
  }
  for (const StepTaken& taken : schedule)
    report["schedule"].push_back({{"step", taken.step}, {"said", taken.said}});
  report["functions"] = Json::array();
  for (const PlannedFunction& f : functions) report["functions"].push_back(function_json(f));
  return report::json_text(report);
}

}  // namespace heddle
