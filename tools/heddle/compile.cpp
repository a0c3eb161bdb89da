// heddle compile: what a program becomes, without running it. Needs no inputs and no memory for
// values, so that programs of any size can be looked at.
#include "heddle/compile.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "clock.h"
#include "commands.h"
#include "execute.h"
#include "explain.h"
#include "heddle/verify.h"
#include "program_commands.h"
#include "terminal.h"
#include "waiting.h"

namespace heddle::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CompileRequest {
  std::string file, entry = "main";
  bool fuse = true, machine_code = true, explain = false;
  ReportOptions report;
};

struct Compiled {
  double read_seconds = 0;
  CompileReport report = {};
  Execution execution = {};  // without runs
};

Compiled compile_file(const CompileRequest& request) {
  Compiled done;
  auto start = std::chrono::steady_clock::now();
  const std::vector<Program> programs = read_programs(request.file);
  const auto wanted = std::ranges::find_if(
      programs, [&](const Program& p) { return p.find_function(request.entry) != nullptr; });
  if (wanted == programs.end())
    throw Error(fmt::format("{}: choose one with --entry",
                            no_function(programs, request.file, request.entry).what()));
  done.read_seconds = seconds_since(start);
  CompileOptions options;
  options.entry = request.entry;
  options.stitch.fuse = request.fuse;
  options.stitch.explain = request.explain;
  options.machine_code = request.machine_code;
  options.report = &done.report;
  std::optional<Waiting> waiting(std::in_place);
  options.progress = &waiting->progress;
  start = std::chrono::steady_clock::now();
  const Executable executable = compile(*wanted, options).value();
  waiting.reset();
  done.execution.compile_seconds = seconds_since(start);
  done.execution.steps = executable.steps();
  done.execution.explained = request.explain;
  done.execution.peak_bytes = executable.peak_bytes();
  done.execution.interpreted_because = executable.interpreted_because();
  return done;
}

Json json_of(const CompileRequest& request, const Compiled& done) {
  Json report = {{"file", request.file}, {"entry", request.entry}};
  report["ops"] = done.report.ops;
  report["distinct_kernels"] = done.report.distinct_kernels;
  report["read_ms"] = done.read_seconds * 1e3;
  Json stages = Json::object();
  for (const CompileReport::Stage& stage : done.report.stages)
    stages[stage.name] = stage.seconds * 1e3;
  report["stages_ms"] = std::move(stages);
  report.update(explain_json(done.execution));
  return report;
}

std::string text_of(const CompileRequest& request, const Compiled& done, const Style& style) {
  std::string text;
  if (request.explain) text += explain_text(done.execution, style);
  text += fmt::format("{} ops: {}, {} of them distinct; {} at the peak\n", done.report.ops,
                      step_counts(done.execution), done.report.distinct_kernels,
                      format_bytes(static_cast<double>(done.execution.peak_bytes)));
  std::string stages = fmt::format("read {}", format_seconds(done.read_seconds));
  for (const CompileReport::Stage& stage : done.report.stages)
    stages += fmt::format(", {} {}", stage.name, format_seconds(stage.seconds));
  text += style.dim(stages) + "\n";
  text += style.bold(fmt::format("compiled in {}", format_seconds(done.execution.compile_seconds)));
  return text + "\n";
}

void run(const CompileRequest& request) {
  const Compiled done = compile_file(request);
  if (request.report.json) return write_json(json_of(request, done));
  write_stdout(text_of(request, done, Style::of_stdout(request.report.plain)));
}

}  // namespace

void add_compile(CLI::App& app) {
  const auto request = std::make_shared<CompileRequest>();
  CLI::App* command =
      app.add_subcommand("compile", "Compile a program without running it, and say what it became");
  command->add_option("FILE", request->file, "StableHLO text; - is standard input")->required();
  command->add_option("--entry", request->entry, "Function to compile")->capture_default_str();
  command->add_flag("--explain", request->explain,
                    "Show every kernel and library call: ops, bytes, why it ends");
  command->add_flag("!--no-fuse", request->fuse, "Every op by itself");
  command->add_flag("!--no-code", request->machine_code, "Stop before machine code is made");
  add_report_options(*command, request->report);
  command->callback([request] { run(*request); });
}

}  // namespace heddle::cli
