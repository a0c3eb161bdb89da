// heddle compile: what a program becomes, without running it. Needs no inputs and no memory for
// values, so that programs of any size can be looked at.
#include "heddle/compile.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "commands.h"
#include "heddle/explain_report.h"
#include "heddle/program_report.h"
#include "mesh_request.h"
#include "option_values.h"
#include "program_files.h"
#include "terminal.h"
#include "waiting.h"

namespace heddle::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct CompileRequest {
  std::string file, entry = "main", device = "cpu";
  MeshRequest mesh;
  CompileOptions options;
  ReportOptions report;
};

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

CompiledReport compile_file(const CompileRequest& request) {
  const bool with_reasons = request.options.stitch.explain;
  CompiledReport report{.file = request.file, .entry = request.entry, .explain = with_reasons};
  auto start = Clock::now();
  const std::vector<Program> programs = read_programs(request.file);
  const auto wanted = std::ranges::find_if(
      programs, [&](const Program& p) { return p.find_function(request.entry) != nullptr; });
  if (wanted == programs.end())
    throw Error(fmt::format("{}: choose one with --entry",
                            no_function(programs, request.file, request.entry).what()));
  report.read_seconds = since(start);
  Target target = target_of(request.mesh, request.entry);
  target.options = request.options;
  target.options.entry = request.entry;
  if (request.device != "cpu") target.options.device = of_option(find_target(request.device));
  target.options.report = &report.stages;
  std::optional<Waiting> waiting(std::in_place);
  target.options.progress = &waiting->progress;
  start = Clock::now();
  const Executable executable = of_option(compile(*wanted, target));
  const double seconds = since(start);
  waiting.reset();
  report.execution = explain(executable).execution;
  report.execution.explained = with_reasons;
  report.execution.compile_seconds = seconds;
  return report;
}

}  // namespace

void add_compile(Command app) {
  const auto request = std::make_shared<CompileRequest>();
  Command command =
      app.add("compile", "Compile a program without running it, and say what it became");
  command.program_file(request->file);
  command.option("--entry", request->entry, "Function to compile").shows_default();
  add_mesh_options(command, request->mesh);
  command
      .option("--device", request->device,
              "What it is compiled for: cpu, cuda, cuda:1, or a kind of GPU that need not be\n"
              "there: cuda:h200, cuda:h100, cuda:a100")
      .shows_default();
  command.flag("--explain", request->options.stitch.explain,
               "Show every kernel and library call: ops, bytes, why it ends");
  command.flag("!--no-fuse", request->options.stitch.fuse, "Every op by itself");
  command.flag("!--no-code", request->options.machine_code, "Stop before machine code is made");
  command.report(request->report);
  command.on_run([request] { write_report(compile_file(*request), request->report); });
}

}  // namespace heddle::cli
