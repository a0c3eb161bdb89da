#include <cmath>

#include "heddle/failure_report.h"
#include "heddle/run_report.h"
#include "ir/eval/check.h"
#include "ir/eval/scalar.h"
#include "report/json.h"

namespace heddle {

using report::Json;
using report::json_number;

namespace {

// Lists in lists, as the shape is; complex numbers as text.
Json nested_json(const Array& array, std::size_t d, std::int64_t& flat) {
  if (d == array.shape().size()) {
    const std::int64_t at = flat++;
    if (is_complex(array.dtype())) return element_text(array, at);
    if (is_float(array.dtype())) return json_number(to_double(array, at));
    if (is_integer(array.dtype())) return to_int64(array, at);
    return to_bool(array, at);
  }
  Json list = Json::array();
  for (std::int64_t i = 0; i < array.shape()[d]; ++i)
    list.push_back(nested_json(array, d + 1, flat));
  return list;
}

Json summary_json(const Array& array) {
  const Summary s = summarize(array);
  Json json = {{"type", array.type().str()},
               {"min", json_number(s.least)},
               {"max", json_number(s.most)},
               {"mean", json_number(s.mean)},
               {"checksum", fmt::format("{:016x}", s.checksum)}};
  if (array.shape().empty()) json["value"] = s.value;
  std::int64_t flat = 0;
  if (!array.shape().empty() && !s.value.empty()) json["values"] = nested_json(array, 0, flat);
  return json;
}

Json steps_json(const FunctionRun& run) {
  const StepsDone& done = *run.steps;
  Json report = {{"first", done.first}, {"last", done.last}, {"carry", done.carry}};
  if (!done.restored.empty()) report["restored"] = done.restored;
  if (!done.saved.empty()) report["saved"] = done.saved;
  if (done.batches > 0) report["batches"] = done.batches;
  report["history"] = Json::array();
  for (const auto& [step, values] : done.history) {
    Json one = {{"step", step}};
    for (std::size_t i = 0; i < values.size(); ++i)
      one[run.titles[done.scalars[i]]] = json_number(values[i]);
    report["history"].push_back(std::move(one));
  }
  return report;
}

Json results_json(const FunctionRun& run) {
  Json list = Json::array();
  for (std::size_t i = 0; i < run.execution.results.size(); ++i) {
    Json result = {{"name", run.titles[i]}};
    if (run.types[i].is_tensor()) result.update(summary_json(run.execution.results[i]));
    if (!run.comparisons.empty()) {
      const Comparison& c = run.comparisons[i];
      result["outside"] = c.outside;
      result["largest_difference"] = std::isfinite(c.largest) ? Json(c.largest) : Json("inf");
    }
    list.push_back(std::move(result));
  }
  return list;
}

}  // namespace

std::string RunReport::json() const {
  Json report = {{"file", file}, {"ok", failure.empty()}};
  if (!failure.empty()) report.update(report::failure_json(failure, kStatusFailed));
  if (!output.empty()) report["output"] = output;
  report["functions"] = Json::array();
  for (const FunctionRun& run : functions) {
    Json function = {{"name", run.name}, {"seconds", run.execution.median()}, {"engine", engine}};
    function.update(report::execution_json(run.execution));
    if (run.steps) function["steps_run"] = steps_json(run);
    function["results"] = results_json(run);
    report["functions"].push_back(std::move(function));
  }
  return report::json_text(report);
}

}  // namespace heddle
