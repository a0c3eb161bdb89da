#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "heddle/explain_report.h"
#include "heddle/log.h"
#include "report/json.h"
#include "report/words.h"

namespace heddle {

using report::bytes_text;
using report::Json;

namespace {

struct Counts {
  std::size_t kernels = 0, launches = 0, library = 0, reference = 0, copies = 0;
  std::int64_t kernel_bytes = 0;  // that kernels read and write
};

Counts count(const Execution& execution) {
  Counts n;
  for (const StepInfo& step : execution.steps) {
    n.kernels += step.kernels;
    n.launches += step.kind == "kernel";
    if (step.kind == "kernel") n.kernel_bytes += step.bytes_read + step.bytes_written;
    n.library += step.kind == "library";
    n.reference += step.kind == "reference";
    n.copies += step.kind == "copy";
  }
  return n;
}

// Seconds of one call; negative where it was not measured.
double seconds_of(const Execution& execution, std::size_t i) {
  if (i >= execution.times.size() || execution.times[i].calls == 0) return -1;
  return execution.times[i].seconds / static_cast<double>(execution.times[i].calls);
}

// "23.9 GB/s  0.57 of copy"; nothing where too little moves to say so.
std::string rate_text(const StepInfo& step, double seconds) {
  const double bytes = static_cast<double>(step.bytes_read + step.bytes_written);
  if (seconds <= 0 || bytes < 1e5) return "";
  return fmt::format("{:>6.1f} GB/s  {:.2f} of copy", bytes / seconds / 1e9,
                     bytes / seconds / copy_rate());
}

// Steps with those inside them, of loops and branches.
struct Tree {
  std::vector<std::size_t> roots;
  std::vector<std::vector<std::size_t>> inside;  // by step
};

Tree tree_of(const Execution& execution) {
  Tree tree;
  tree.inside.resize(execution.steps.size());
  std::vector<std::size_t> around;  // the steps that the next one may lie in
  for (std::size_t i = 0; i < execution.steps.size(); ++i) {
    around.resize(std::min(around.size(), static_cast<std::size_t>(execution.steps[i].depth)));
    (around.empty() ? tree.roots : tree.inside[around.back()]).push_back(i);
    around.push_back(i);
  }
  return tree;
}

// The longest first, in their order where nothing was measured.
void by_time(const Execution& execution, std::vector<std::size_t>& steps) {
  const auto time = [&](std::size_t i) {
    return i < execution.times.size() ? execution.times[i].seconds : 0.0;
  };
  std::ranges::stable_sort(steps, [&](std::size_t a, std::size_t b) { return time(a) > time(b); });
}

double all_seconds(const Execution& execution, const Tree& tree) {
  double sum = 0;
  for (const std::size_t i : tree.roots)
    if (i < execution.times.size()) sum += execution.times[i].seconds;
  return sum;
}

// "43.1 %"; of what one run took in all.
std::string share_text(const Execution& execution, std::size_t i, double all) {
  if (all <= 0 || i >= execution.times.size()) return "";
  return fmt::format("{:>5.1f} %  ", 100 * execution.times[i].seconds / all);
}

std::string line_of(const Execution& execution, std::size_t i, double all) {
  const StepInfo& step = execution.steps[i];
  const double seconds = seconds_of(execution, i);
  const bool again = i < execution.times.size() && execution.times[i].calls > 1;
  std::string line = fmt::format("{}{}{:>8}  {:<9} {:<24} {:>8}", share_text(execution, i, all),
                                 std::string(static_cast<std::size_t>(2 * step.depth), ' '),
                                 seconds < 0 ? "not run" : format_seconds(seconds), step.kind,
                                 shortened(step.name, 24), counted(step.op_count, "op"));
  if (again) line += fmt::format("  {} times", execution.times[i].calls);
  const std::string rate = rate_text(step, seconds);
  return rate.empty() ? line : line + "  " + rate;
}

// "model.py:57, model.py:60": the last part of a path is enough to find it.
std::string lines_text(const std::vector<std::string>& from) {
  std::string text;
  for (const std::string& line : from)
    text += (text.empty() ? "" : ", ") + line.substr(line.rfind('/') + 1);
  return text;
}

std::string details_of(const StepInfo& step) {
  const std::string indent(static_cast<std::size_t>(2 * step.depth + 3), ' ');
  std::string text;
  if (step.op_count > 1) text += fmt::format("{}{}\n", indent, shortened(step.ops, 90));
  if (!step.from.empty())
    text += fmt::format("{}from {}\n", indent, shortened(lines_text(step.from), 90));
  if (step.bytes_read + step.bytes_written > 0)
    text += fmt::format(
        "{}reads {}, writes {}{}\n", indent, bytes_text(step.bytes_read),
        bytes_text(step.bytes_written),
        step.op_count > 1 ? "; one by one its ops would move " + bytes_text(step.bytes_apart) : "");
  if (!step.note.empty()) text += indent + shortened(step.note, 90) + "\n";
  for (const std::string& line : step.because) text += indent + shortened(line, 96) + "\n";
  return text;
}

// What all kernels took beside what was expected of them, and what they move.
std::string kernels_text(const Execution& execution) {
  std::int64_t apart = 0, together = 0;
  double expected = 0, measured = 0;  // seconds of kernels that ran
  for (std::size_t i = 0; i < execution.steps.size(); ++i) {
    const StepInfo& step = execution.steps[i];
    if (step.kind != "kernel") continue;
    apart += step.bytes_apart;
    together += step.bytes_read + step.bytes_written;
    if (const double seconds = seconds_of(execution, i); seconds > 0) {
      expected += step.expected_seconds;
      measured += seconds;
    }
  }
  std::string text;
  if (expected > 0 && measured > 0)
    text += fmt::format("kernels took {}; the cost model expected {}\n", format_seconds(measured),
                        format_seconds(expected));
  if (apart > 0)
    text += fmt::format("kernels move {}; their ops one by one would move {}\n",
                        bytes_text(together), bytes_text(apart));
  return text;
}

void add_steps(const Execution& execution, const Tree& tree, std::vector<std::size_t> steps,
               double all, const Style& style, std::string& text) {
  by_time(execution, steps);
  for (const std::size_t i : steps) {
    text += line_of(execution, i, all) + "\n" + style.dim(details_of(execution.steps[i]));
    add_steps(execution, tree, tree.inside[i], all, style, text);
  }
}

}  // namespace

std::string ExplainReport::counts() const {
  if (!execution.interpreted_because.empty()) return "interpreted";
  const Counts n = count(execution);
  std::string text = counted(n.kernels, "kernel");
  if (n.launches != n.kernels)
    text += fmt::format(" in {} {}", n.launches, n.launches == 1 ? "launch" : "launches");
  if (n.library > 0) text += ", " + counted(n.library, "library call");
  if (n.reference > 0) text += ", " + counted(n.reference, "op") + " by reference";
  return text;
}

std::string ExplainReport::text(const Style& style) const {
  if (!execution.interpreted_because.empty())
    return fmt::format("interpreted as a whole: {}\n", execution.interpreted_because);
  const Tree tree = tree_of(execution);
  std::string text;
  add_steps(execution, tree, tree.roots, all_seconds(execution, tree), style, text);
  if (execution.stage_steps.size() > 1)
    text += fmt::format(
        "these are the steps of stage 0; all stages have {} steps: `heddle plan` says what each "
        "does when\n",
        fmt::join(execution.stage_steps, ", "));
  text += counts();
  if (execution.compile_seconds > 0)
    text += "; compiled in " + format_seconds(execution.compile_seconds);
  text += fmt::format("; {} of memory at the peak\n", bytes_text(execution.peak_bytes));
  if (execution.devices > 1)
    text +=
        fmt::format("each of {} devices has {} of arguments beside that; it may have {} in all\n",
                    execution.devices, bytes_text(execution.argument_bytes),
                    bytes_text(execution.memory_limit));
  return text + kernels_text(execution);
}

Json report::execution_json(const Execution& execution) {
  const Counts n = count(execution);
  Json report = {{"compile_ms", execution.compile_seconds * 1e3},
                 {"median_ms", execution.median() * 1e3},
                 {"runs_ms", Json::array()},
                 {"kernels", n.kernels},
                 {"launches", n.launches},
                 {"kernel_bytes", n.kernel_bytes},
                 {"library_calls", n.library},
                 {"reference_ops", n.reference},
                 {"copies", n.copies},
                 {"peak_bytes", execution.peak_bytes}};
  if (execution.devices > 1) {
    report["devices"] = execution.devices;
    report["argument_bytes"] = execution.argument_bytes;
    report["memory_limit"] = execution.memory_limit;
  }
  if (execution.predicted_seconds) report["predicted_ms"] = *execution.predicted_seconds * 1e3;
  for (double s : execution.seconds) report["runs_ms"].push_back(s * 1e3);
  if (!execution.interpreted_because.empty())
    report["interpreted_because"] = execution.interpreted_because;
  if (execution.times.empty() && !execution.explained) return report;
  const double all = all_seconds(execution, tree_of(execution));
  report["steps"] = Json::array();
  for (std::size_t i = 0; i < execution.steps.size(); ++i) {
    const StepInfo& s = execution.steps[i];
    const StepTime time = i < execution.times.size() ? execution.times[i] : StepTime{};
    report["steps"].push_back({{"kind", s.kind},
                               {"name", s.name},
                               {"ops", s.op_count},
                               {"where", s.where},
                               {"from", s.from},
                               {"depth", s.depth},
                               {"bytes_read", s.bytes_read},
                               {"bytes_written", s.bytes_written},
                               {"bytes_apart", s.bytes_apart},
                               {"because", s.because},
                               {"expected_ms", s.expected_seconds * 1e3},
                               {"calls", time.calls},
                               {"ms", time.seconds * 1e3},
                               {"share", all > 0 ? time.seconds / all : 0}});
  }
  return report;
}

std::string ExplainReport::json() const {
  return report::json_text(report::execution_json(execution));
}

ExplainReport explain(const Executable& executable, std::vector<StepTime> times) {
  ExplainReport report;
  report.execution.steps = executable.steps();
  report.execution.times = std::move(times);
  report.execution.explained = true;
  report.execution.peak_bytes = executable.peak_bytes();
  report.execution.interpreted_because = executable.interpreted_because();
  return report;
}

void ExplainReport::log() const {
  for (std::size_t i = 0; i < execution.steps.size(); ++i) {
    const StepInfo& step = execution.steps[i];
    if (step.kind != "kernel" && step.kind != "library" && step.kind != "reference") continue;
    const double seconds = seconds_of(execution, i);
    heddle::log(kLogSteps, "{} {}  {}  {}  {}", step.kind, step.name,
                bytes_text(step.bytes_read + step.bytes_written),
                seconds < 0 ? "not run" : format_seconds(seconds), rate_text(step, seconds));
  }
}

}  // namespace heddle
