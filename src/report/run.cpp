// Tables for what has run.
#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "heddle/explain_report.h"
#include "heddle/run_report.h"
#include "heddle/signature.h"
#include "report/words.h"

namespace heddle {
namespace {

// Rows of a table that people still read.
constexpr std::size_t kMostRows = 24;

// Of least, most and mean, or of the value itself.
constexpr std::size_t kValueColumns = 34;

// The last column: how far the result is from the recorded one, or a checksum.
std::string last_column(const FunctionRun& run, std::size_t i, const Summary& summary) {
  if (!run.comparisons.empty()) return fmt::format("{:.2g}", run.comparisons[i].largest);
  return fmt::format("{:08x}", summary.checksum >> 32);
}

// The figures of a result, and its elements on a line of their own where these are few but the row
// has no room for them.
std::string result_text(const FunctionRun& run, std::size_t i, std::string& below) {
  const Array& array = run.execution.results[i];
  if (!run.types[i].is_tensor()) return "a token";
  if (array.elements() == 0) return "empty";
  const Summary s = summarize(array);
  const std::string last = last_column(run, i, s);
  const bool has_room = s.value.size() <= kValueColumns, is_scalar = array.shape().empty();
  if (is_scalar || (!s.value.empty() && has_room))
    return fmt::format("{:<{}}  {}", shortened(s.value, kValueColumns), kValueColumns, last);
  if (array.elements() <= kFewElements && !has_room) below = "    " + s.value + "\n";
  return fmt::format("{:>10.4g}  {:>10.4g}  {:>10.4g}  {}", s.least, s.most, s.mean, last);
}

std::string table(const FunctionRun& run, const Style& style) {
  const std::size_t all = run.execution.results.size(), rows = std::min(all, kMostRows);
  std::size_t names = 6, types = 4;
  for (std::size_t i = 0; i < rows; ++i) {
    names = std::max(names, run.titles[i].size());
    types = std::max(types, run.types[i].str().size());
  }
  names = std::min<std::size_t>(names, 22);
  types = std::min<std::size_t>(types, 26);
  const std::string_view last = run.comparisons.empty() ? "checksum" : "difference";
  std::string text = style.dim(fmt::format("  {:<{}}  {:<{}}  {:>10}  {:>10}  {:>10}  {}", "result",
                                           names, "type", types, "min", "max", "mean", last)) +
                     "\n";
  for (std::size_t i = 0; i < rows; ++i) {
    std::string below;
    std::string row =
        fmt::format("  {:<{}}  {:<{}}  {}", report::end_of(run.titles[i], names), names,
                    shortened(run.types[i].str(), types), types, result_text(run, i, below));
    row.resize(row.find_last_not_of(' ') + 1);
    text += row + "\n" + below;
  }
  if (rows < all) text += style.dim(fmt::format("  {} more; --json lists all", all - rows)) + "\n";
  return text;
}

// "22 ms, the median of 5 runs"
std::string time_text(const std::vector<FunctionRun>& functions) {
  double seconds = 0;
  std::size_t repeated = 1;
  for (const FunctionRun& run : functions) {
    seconds += run.execution.median();
    if (!run.steps) repeated = std::max(repeated, run.execution.seconds.size());
  }
  std::string text = format_seconds(seconds);
  if (repeated > 1) text += fmt::format(", the median of {} runs", repeated);
  if (functions.size() != 1 || !functions[0].steps) return text;
  const StepsDone& done = *functions[0].steps;
  if (done.last > done.first)
    text += fmt::format(" a step, the median of {}", done.last - done.first + 1);
  return done.saved.empty() ? text : text + "; saved " + done.saved;
}

}  // namespace

FunctionRun::FunctionRun(const Program& program, const Function& function)
    : name(function.name), types(result_types(program, function)) {
  for (std::size_t i = 0; i < types.size(); ++i) titles.push_back(result_title(function, i));
}

std::string FunctionRun::disagreement() const {
  const Comparison* worst = nullptr;
  std::size_t outside = 0;
  for (const Comparison& c : comparisons) {
    if (c.complaint.empty()) continue;
    ++outside;
    if (worst == nullptr || c.largest > worst->largest) worst = &c;
  }
  if (worst == nullptr) return "";
  const auto at = static_cast<std::size_t>(worst - comparisons.data());
  const std::string number = fmt::format("result {}", at);
  const std::string title = titles[at] == number ? "" : fmt::format(" ({})", titles[at]);
  const std::string more =
      comparisons.size() == 1
          ? ""
          : fmt::format("\n  {} of {} results differ, this one most", outside, comparisons.size());
  return fmt::format("{}{} {}: {}{}", number, title, types[at].str(), worst->complaint, more);
}

std::string RunReport::text(const Style& style) const {
  std::string text;
  for (const FunctionRun& run : functions) {
    if (!run.execution.results.empty()) {
      if (functions.size() > 1) text += style.bold(run.name) + "\n";
      text += table(run, style);
    }
    if (explain) text += ExplainReport{run.execution}.text(style);
    if (!run.written.empty()) text += run.written + "\n";
  }
  return text;
}

std::string RunReport::verdict() const {
  const std::string time = time_text(functions);
  if (compared_with.empty() && functions.size() == 1)
    return fmt::format("{} ran in {}", functions[0].name, time);
  if (compared_with.empty())
    return fmt::format("all {} functions ran in {}", functions.size(), time);
  double largest = 0;
  std::size_t results = 0;
  for (const FunctionRun& run : functions) {
    results += run.execution.results.size();
    for (const Comparison& c : run.comparisons) largest = std::max(largest, c.largest);
  }
  return fmt::format(
      "{} with {}, largest difference {:.2g}; ran in {}",
      results == 1 ? "the result agrees" : fmt::format("all {} results agree", results),
      std::filesystem::path(compared_with).filename().string(), largest, time);
}

}  // namespace heddle
