// heddle verify: whether a program is well formed.
#include "heddle/verify.h"

#include <chrono>
#include <memory>

#include "commands.h"
#include "heddle/program_report.h"
#include "program_files.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

struct VerifyRequest {
  std::string file;
  ReportOptions report;
};

void run(const VerifyRequest& request) {
  VerifyReport report{.file = request.file};
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Program> programs = read_programs(request.file);
  const auto middle = std::chrono::steady_clock::now();
  report.programs = programs.size();
  for (const Program& program : programs) {
    verify(program).value();
    report.functions += program.functions.size();
    report.ops += program.op_count();
  }
  const std::chrono::duration<double> reading = middle - start;
  const std::chrono::duration<double> verifying = std::chrono::steady_clock::now() - middle;
  report.read_seconds = reading.count();
  report.verify_seconds = verifying.count();
  write_report(report, request.report);
}

}  // namespace

void add_verify(Command app) {
  const auto request = std::make_shared<VerifyRequest>();
  Command command = app.add("verify", "Say whether a program is well formed");
  command.program_file(request->file);
  command.report(request->report);
  command.on_run([request] { run(*request); });
}

}  // namespace heddle::cli
