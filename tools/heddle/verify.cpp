// heddle verify: whether a program is well formed.
#include "heddle/verify.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "clock.h"
#include "commands.h"
#include "program_commands.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

struct VerifyRequest {
  std::string file;
  ReportOptions report;
};

void run(const VerifyRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Program> programs = read_programs(request.file);
  const double reading = seconds_since(start);
  std::size_t functions = 0, ops = 0;
  for (const Program& program : programs) {
    (void)verify(program).value();
    functions += program.functions.size();
    ops += program.op_count();
  }
  const double all = seconds_since(start);
  if (request.report.json) {
    write_json({{"file", request.file},
                {"ok", true},
                {"programs", programs.size()},
                {"functions", functions},
                {"ops", ops},
                {"read_seconds", reading},
                {"verify_seconds", all - reading}});
    return;
  }
  const std::string parts = programs.size() == 1 ? "" : counted(programs.size(), "program") + ", ";
  write_stdout(fmt::format("{}: well formed; {}{}, {}; read in {}, verified in {}\n", request.file,
                           parts, counted(functions, "function"), counted(ops, "op"),
                           format_seconds(reading), format_seconds(all - reading)));
}

}  // namespace

void add_verify(CLI::App& app) {
  const auto request = std::make_shared<VerifyRequest>();
  CLI::App* command = app.add_subcommand("verify", "Say whether a program is well formed");
  command->add_option("FILE", request->file, "StableHLO text; - is standard input")->required();
  add_report_options(*command, request->report);
  command->callback([request] { run(*request); });
}

}  // namespace heddle::cli
