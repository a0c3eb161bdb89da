// Tables and JSON for what `heddle run` has run.
#include "run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "explain.h"

namespace heddle::cli {
namespace {

using Json = nlohmann::ordered_json;

// Rows of a table that people still read.
constexpr std::size_t kMostRows = 24;

// Of least, most and mean, or of the value itself.
constexpr std::size_t kValueColumns = 34;

// The last column: how far the result is from the recorded one, or a checksum.
std::string last_column(const Outcome& outcome, std::size_t i) {
  if (!outcome.comparisons.empty()) return fmt::format("{:.2g}", outcome.comparisons[i].largest);
  return fmt::format("{:08x}", summarize(outcome.results[i]).checksum >> 32);
}

std::string row_text(const Outcome& outcome, std::size_t i) {
  const Array& array = outcome.results[i];
  if (!outcome.types[i].is_tensor()) return "a token";
  if (array.elements() == 0) return "empty";
  const Summary s = summarize(array);
  const std::string last = last_column(outcome, i);
  const bool is_scalar = array.shape().empty();
  if (is_scalar || (!s.value.empty() && s.value.size() <= kValueColumns))
    return fmt::format("{:<{}}  {}", shortened(s.value, kValueColumns), kValueColumns, last);
  return fmt::format("{:>10.4g}  {:>10.4g}  {:>10.4g}  {}", s.least, s.most, s.mean, last);
}

// The elements of a small array on a line of their own, where the row has no room for them.
std::string line_below(const Outcome& outcome, std::size_t i) {
  const Array& array = outcome.results[i];
  if (!outcome.types[i].is_tensor() || array.shape().empty()) return "";
  if (array.elements() > kFewElements) return "";
  const std::string value = summarize(array).value;
  return value.size() <= kValueColumns ? "" : "    " + value + "\n";
}

Json steps_json(const Outcome& outcome) {
  const StepsDone& done = outcome.steps;
  Json report = {{"first", done.first}, {"last", done.last}, {"carry", done.carry}};
  if (!done.restored.empty()) report["restored"] = done.restored;
  if (!done.saved.empty()) report["saved"] = done.saved;
  if (done.batches > 0) report["batches"] = done.batches;
  report["history"] = Json::array();
  for (const auto& [step, values] : done.history) {
    Json one = {{"step", step}};
    for (std::size_t i = 0; i < values.size(); ++i)
      one[result_title(*outcome.function, done.scalars[i])] =
          std::isfinite(values[i]) ? Json(values[i]) : Json(fmt::format("{}", values[i]));
    report["history"].push_back(std::move(one));
  }
  return report;
}

std::string table(const Outcome& outcome, const Style& style) {
  const std::size_t rows = std::min(outcome.results.size(), kMostRows);
  std::size_t names = 6, types = 4;
  for (std::size_t i = 0; i < rows; ++i) {
    names = std::max(names, result_title(*outcome.function, i).size());
    types = std::max(types, outcome.types[i].str().size());
  }
  names = std::min<std::size_t>(names, 22);
  types = std::min<std::size_t>(types, 26);
  const std::string_view last = outcome.comparisons.empty() ? "checksum" : "difference";
  std::string text = style.dim(fmt::format("  {:<{}}  {:<{}}  {:>10}  {:>10}  {:>10}  {}", "result",
                                           names, "type", types, "min", "max", "mean", last)) +
                     "\n";
  for (std::size_t i = 0; i < rows; ++i) {
    std::string row =
        fmt::format("  {:<{}}  {:<{}}  {}", end_of(result_title(*outcome.function, i), names),
                    names, shortened(outcome.types[i].str(), types), types, row_text(outcome, i));
    row.resize(row.find_last_not_of(' ') + 1);
    text += row + "\n" + line_below(outcome, i);
  }
  if (rows < outcome.results.size())
    text +=
        style.dim(fmt::format("  {} more; --json lists all", outcome.results.size() - rows)) + "\n";
  return text;
}

}  // namespace

std::ptrdiff_t worst_result(const Outcome& outcome) {
  std::ptrdiff_t worst = -1;
  for (std::size_t i = 0; i < outcome.comparisons.size(); ++i) {
    const Comparison& c = outcome.comparisons[i];
    if (c.complaint.empty()) continue;
    if (worst < 0 || c.largest > outcome.comparisons[static_cast<std::size_t>(worst)].largest)
      worst = static_cast<std::ptrdiff_t>(i);
  }
  return worst;
}

std::string disagreement(const Outcome& outcome, std::size_t worst) {
  const auto outside = std::ranges::count_if(
      outcome.comparisons, [](const Comparison& c) { return !c.complaint.empty(); });
  const std::string name = result_title(*outcome.function, worst);
  const std::string number = fmt::format("result {}", worst);
  const std::string more = outcome.comparisons.size() == 1
                               ? ""
                               : fmt::format("\n  {} of {} results differ, this one most", outside,
                                             outcome.comparisons.size());
  return fmt::format("{}{} {}: {}{}", number, name == number ? "" : fmt::format(" ({})", name),
                     outcome.types[worst].str(), outcome.comparisons[worst].complaint, more);
}

std::string verdict(const std::vector<Outcome>& outcomes, const RunRequest& request) {
  double seconds = 0, largest = 0;
  std::size_t results = 0;
  for (const Outcome& o : outcomes) {
    seconds += o.seconds;
    results += o.results.size();
    for (const Comparison& c : o.comparisons) largest = std::max(largest, c.largest);
  }
  std::string time = format_seconds(seconds);
  if (request.execute.repeat > 1)
    time += fmt::format(", the median of {} runs", request.execute.repeat);
  if (outcomes.size() == 1 && outcomes[0].steps.last > 0) {
    const StepsDone& done = outcomes[0].steps;
    if (done.last > done.first)
      time += fmt::format(" a step, the median of {}", done.last - done.first + 1);
    if (!done.saved.empty()) time += "; saved " + done.saved;
  }
  if (request.check)
    return fmt::format(
        "{} with {}, largest difference {:.2g}; ran in {}",
        results == 1 ? "the result agrees" : fmt::format("all {} results agree", results),
        std::filesystem::path(request.io).filename().string(), largest, time);
  if (outcomes.size() == 1) return fmt::format("{} ran in {}", outcomes[0].function->name, time);
  return fmt::format("all {} functions ran in {}", outcomes.size(), time);
}

void write_tables(const std::vector<Outcome>& outcomes, const RunRequest& request) {
  const Style style = Style::of_stdout(request.report.plain);
  std::string text;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.results.empty()) {
      if (outcomes.size() > 1) text += style.bold(outcome.function->name) + "\n";
      text += table(outcome, style);
    }
    if (request.explain) text += explain_text(outcome.execution, style);
    if (!outcome.written.empty()) text += outcome.written + "\n";
  }
  write_stdout(text);
}

void write_report(const std::vector<Outcome>& outcomes, const RunRequest& request,
                  const std::string& failure) {
  Json report = {{"file", request.file}, {"ok", failure.empty()}};
  if (!failure.empty()) report.update(failure_json(failure, kExitFailed));
  if (!request.output.empty()) report["output"] = request.output;
  report["functions"] = Json::array();
  for (const Outcome& o : outcomes) {
    Json function = {{"name", o.function->name}, {"seconds", o.seconds}};
    function["engine"] = request.execute.engine;
    function.update(explain_json(o.execution));
    if (o.steps.last > 0) function["steps_run"] = steps_json(o);
    function["results"] = Json::array();
    for (std::size_t i = 0; i < o.results.size(); ++i) {
      Json result = {{"name", result_title(*o.function, i)}};
      if (o.types[i].is_tensor()) result.update(summary_json(o.results[i]));
      if (!o.comparisons.empty()) {
        const Comparison& c = o.comparisons[i];
        result["outside"] = c.outside;
        result["largest_difference"] = std::isfinite(c.largest) ? Json(c.largest) : Json("inf");
      }
      function["results"].push_back(std::move(result));
    }
    report["functions"].push_back(std::move(function));
  }
  write_json(report);
}

}  // namespace heddle::cli
