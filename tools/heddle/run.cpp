// heddle run: runs a program with the reference interpreter and says what came out.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "heddle/interpreter.h"
#include "program_commands.h"
#include "stages.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RunRequest {
  std::string file, entry, io, output, until = "read";
  std::vector<std::string> inputs;
  bool check = false;
  Tolerance tolerance;
  ReportOptions report;
};

// One function that ran.
struct Outcome {
  const Function* function = nullptr;
  double seconds = 0;
  std::vector<Array> results;
  std::vector<Type> types;
  std::vector<Comparison> comparisons;  // one per result under --check
};

// Rows of a table that people still read.
constexpr std::size_t kMostRows = 24;

bool runs_alone(const Program& program, const Function& f) {
  return !f.is_private && f.body != kNone && program.region(f.body).args.empty();
}

// The functions to run of one program: the entry, or all that need no arguments.
std::vector<const Function*> choose(const Program& program, const std::string& entry) {
  if (!entry.empty()) {
    const Function* f = program.find_function(entry);
    return f == nullptr ? std::vector<const Function*>{} : std::vector{f};
  }
  if (const Function* main = program.find_function("main")) return {main};
  std::vector<const Function*> alone, open;
  for (const Function& f : program.functions) {
    if (!f.is_private) open.push_back(&f);
    if (runs_alone(program, f)) alone.push_back(&f);
  }
  return open.size() == 1 ? open : alone;
}

Error nothing_to_run(const std::vector<Program>& programs, const RunRequest& request) {
  std::string names;
  std::size_t n = 0;
  for (const Program& p : programs)
    for (const Function& f : p.functions)
      if (n++ < 8) names += (names.empty() ? "" : ", ") + f.name;
  if (n == 0) return Error(fmt::format("{} has no functions", request.file));
  if (!request.entry.empty())
    return Error(fmt::format("{} has no function {}; it has {}{}", request.file, request.entry,
                             names, n > 8 ? ", ..." : ""));
  return Error(
      fmt::format("{} has no main, and no function without arguments: choose one with "
                  "--entry of {}{}",
                  request.file, names, n > 8 ? ", ..." : ""));
}

void compare(Outcome& outcome, const NamedArrays& recorded, const RunRequest& request) {
  for (std::size_t i = 0; i < outcome.results.size(); ++i) {
    const Array* expected = find_array(recorded, fmt::format("out.{}", i));
    if (expected == nullptr)
      throw Error(fmt::format("{} has no out.{} to compare result {} with", request.io, i, i));
    outcome.comparisons.push_back(compare_arrays(outcome.results[i], *expected, request.tolerance));
  }
  if (find_array(recorded, fmt::format("out.{}", outcome.results.size())) != nullptr)
    throw Error(fmt::format("{} has out.{}, but {} gives only {}", request.io,
                            outcome.results.size(), outcome.function->name,
                            counted(outcome.results.size(), "result")));
}

Outcome run_function(const Program& program, const Function& function, const RunRequest& request) {
  Outcome outcome;
  outcome.function = &function;
  std::vector<std::string> sources = request.inputs;
  if (!request.io.empty()) sources.push_back(request.io);
  std::vector<Array> inputs = gather_inputs(program, function, sources);
  InterpretOptions options;
  options.verified = true;
  if (request.report.json)
    options.print = [](std::string_view text) { fmt::print(stderr, "{}", text); };
  const auto start = std::chrono::steady_clock::now();
  outcome.results = interpret(program, function, std::move(inputs), options).value();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  outcome.seconds = took.count();
  outcome.types = result_types(program, function);
  if (request.check) compare(outcome, read_safetensors(request.io).value(), request);
  if (!request.output.empty()) write_results(request.output, outcome.results);
  return outcome;
}

// The result that lies furthest outside, or -1.
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
  const std::string name = result_name(*outcome.function, worst);
  const std::string number = fmt::format("result {}", worst);
  const std::string more = outcome.comparisons.size() == 1
                               ? ""
                               : fmt::format("\n  {} of {} results differ, this one most", outside,
                                             outcome.comparisons.size());
  return fmt::format("{}{} {}: {}{}", number, name == number ? "" : fmt::format(" ({})", name),
                     outcome.types[worst].str(), outcome.comparisons[worst].complaint, more);
}

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
  if (!s.value.empty())
    return fmt::format("{:<34}  {}", shortened(s.value, 34),
                       outcome.comparisons.empty() ? "" : last);
  return fmt::format("{:>10.4g}  {:>10.4g}  {:>10.4g}  {}", s.least, s.most, s.mean, last);
}

// The end of a name says more than its beginning: ...[0]['qkv_b'].
std::string end_of(const std::string& name, std::size_t columns) {
  if (name.size() <= columns) return name;
  std::size_t from = name.size() - columns + 3;
  while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xc0) == 0x80) ++from;
  return "..." + name.substr(from);
}

std::string table(const Outcome& outcome, const Style& style) {
  const std::size_t rows = std::min(outcome.results.size(), kMostRows);
  std::size_t names = 6, types = 4;
  for (std::size_t i = 0; i < rows; ++i) {
    names = std::max(names, result_name(*outcome.function, i).size());
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
        fmt::format("  {:<{}}  {:<{}}  {}", end_of(result_name(*outcome.function, i), names), names,
                    shortened(outcome.types[i].str(), types), types, row_text(outcome, i));
    row.resize(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  if (rows < outcome.results.size())
    text +=
        style.dim(fmt::format("  {} more; --json lists all", outcome.results.size() - rows)) + "\n";
  return text;
}

std::string verdict(const std::vector<Outcome>& outcomes, const RunRequest& request) {
  double seconds = 0, largest = 0;
  std::size_t results = 0;
  for (const Outcome& o : outcomes) {
    seconds += o.seconds;
    results += o.results.size();
    for (const Comparison& c : o.comparisons) largest = std::max(largest, c.largest);
  }
  const std::string time = format_seconds(seconds);
  if (request.check)
    return fmt::format(
        "{} with {}, largest difference {:.2g}; ran in {}",
        results == 1 ? "the result agrees" : fmt::format("all {} results agree", results),
        std::filesystem::path(request.io).filename().string(), largest, time);
  if (outcomes.size() == 1) return fmt::format("{} ran in {}", outcomes[0].function->name, time);
  return fmt::format("all {} functions ran in {}", outcomes.size(), time);
}

void write_text(const std::vector<Outcome>& outcomes, const RunRequest& request) {
  const Style style = Style::of_stdout(request.report.plain);
  std::string text;
  for (const Outcome& outcome : outcomes) {
    if (outcome.results.empty()) continue;
    if (outcomes.size() > 1) text += style.bold(outcome.function->name) + "\n";
    text += table(outcome, style);
  }
  write_stdout(text);
}

void write_report(const std::vector<Outcome>& outcomes, const RunRequest& request,
                  const std::string& failure) {
  Json report = {{"file", request.file}, {"ok", failure.empty()}};
  if (!failure.empty()) report["failure"] = failure;
  report["functions"] = Json::array();
  for (const Outcome& o : outcomes) {
    Json function = {{"name", o.function->name}, {"seconds", o.seconds}};
    function["results"] = Json::array();
    for (std::size_t i = 0; i < o.results.size(); ++i) {
      Json result = {{"name", result_name(*o.function, i)}};
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

// What went wrong, in the order of the functions.
struct Failures {
  std::string first;
  std::vector<std::string> functions;

  void add(const Function& function, const std::string& message) {
    if (functions.empty()) first = message;
    functions.push_back(function.name);
  }
  std::string text() const {
    if (functions.size() < 2) return first;
    std::string names;
    for (std::size_t i = 1; i < std::min<std::size_t>(functions.size(), 9); ++i)
      names += (i > 1 ? ", " : "") + functions[i];
    return fmt::format("{}\n  {} more failed: {}{}", first,
                       counted(functions.size() - 1, "function"), names,
                       functions.size() > 9 ? ", ..." : "");
  }
};

void run(const RunRequest& request) {
  if (request.check && request.io.empty())
    throw Error("--check compares with out.0, out.1, ... of a file: name it with --io");
  std::vector<Program> programs = load_programs(request.file);
  for (Program& program : programs) program = after_stage(std::move(program), request.until);
  std::vector<std::pair<const Program*, const Function*>> chosen;
  for (const Program& program : programs)
    for (const Function* f : choose(program, request.entry)) chosen.emplace_back(&program, f);
  if (chosen.empty()) throw nothing_to_run(programs, request);
  if (chosen.size() > 1 && !request.output.empty())
    throw Error(fmt::format("{} functions would write to {}: choose one with --entry",
                            chosen.size(), request.output));
  std::vector<Outcome> outcomes;
  Failures failures;
  for (const auto& [program, function] : chosen) {
    try {
      outcomes.push_back(run_function(*program, *function, request));
      if (const auto worst = worst_result(outcomes.back()); worst >= 0)
        failures.add(*function, disagreement(outcomes.back(), static_cast<std::size_t>(worst)));
    } catch (const Error& error) {
      failures.add(*function, error.what());
    }
  }
  const std::string failure = failures.text();
  if (request.report.json)
    write_report(outcomes, request, failure);
  else
    write_text(outcomes, request);
  if (!failure.empty()) throw Error(failure);
  const Style style = Style::of_stdout(request.report.plain);
  if (!request.report.json) write_stdout(style.bold(verdict(outcomes, request)) + "\n");
}

}  // namespace

void add_run(CLI::App& app) {
  const auto request = std::make_shared<RunRequest>();
  CLI::App* command = app.add_subcommand("run", "Run a program and show its results");
  command->add_option("FILE", request->file, "StableHLO text; - is standard input")->required();
  command->add_option("--entry", request->entry,
                      "Function to run; otherwise main, or all that take no arguments");
  command
      ->add_option("--input", request->inputs,
                   "x.npy, x.safetensors with in.0, in.1, ..., dense<...> or random:SEED")
      ->allow_extra_args(false);
  command->add_option("--io", request->io, "Safetensors file with inputs in.* and results out.*");
  command->add_option("--output", request->output,
                      "Folder for one .npy per result, or a file x.safetensors");
  command->add_flag("--check", request->check, "Compare the results with out.* of --io");
  command->add_option("--rtol", request->tolerance.rtol, "Relative tolerance of --check");
  command->add_option("--atol", request->tolerance.atol, "Absolute tolerance of --check");
  command->add_option("--until", request->until, "Run the program as it is after this stage")
      ->check(CLI::IsMember(stage_names()))
      ->capture_default_str();
  add_report_options(*command, request->report);
  command->callback([request] { run(*request); });
}

}  // namespace heddle::cli
