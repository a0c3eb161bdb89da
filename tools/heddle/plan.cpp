// heddle plan: how a program is dealt out over a mesh, and what its devices tell each other.
#include <memory>

#include "commands.h"
#include "heddle/carry.h"
#include "heddle/compile.h"
#include "heddle/plan_report.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"
#include "mesh_request.h"
#include "option_values.h"
#include "program_files.h"
#include "terminal.h"
#include "waiting.h"

namespace heddle::cli {
namespace {

struct PlanRequest {
  std::string file, entry;
  MeshRequest mesh;
  bool explain = false, program = false;
  std::string memory;              // of one device
  std::vector<std::string> carry;  // as a run of many steps has it
  ReportOptions report;
};

Spmd distributed(const Program& program, const PlanRequest& request) {
  const std::string entry = entry_of(program, request.entry);
  const Function* function = program.find_function(entry);
  if (function == nullptr && !request.entry.empty())
    throw no_function({program}, request.file, request.entry);
  Target target = target_of(request.mesh, entry);
  Waiting waiting;
  target.options.progress = &waiting.progress;
  if (request.carry.empty()) return of_option(distribute(program, target));
  if (function == nullptr)
    throw Error(
        fmt::format("--carry is for @main, which {} does not have: choose another with "
                    "--entry",
                    request.file));
  target.carried = of_option(find_carry(program, *function, request.carry)).pairs;
  return of_option(distribute(program, target));
}

void run(const PlanRequest& request) {
  for (const Program& program : read_programs(request.file)) {
    const Spmd spmd = distributed(program, request);
    const PlanReport report =
        plan_report(spmd, {.memory = bytes_of_option(request.memory), .explain = request.explain});
    if (request.program)
      write_stdout(print_stablehlo(spmd.program));
    else
      write_report(report, request.report);
    if (!report.failure.empty()) throw Error(report.failure);
  }
}

}  // namespace

void add_plan(Command app) {
  const auto request = std::make_shared<PlanRequest>();
  Command command = app.add("plan", "Deal a program out over the devices of a mesh");
  command.program_file(request->file);
  add_mesh_options(command, request->mesh);
  command.option("--entry", request->entry, "The function that --shard and --carry are for");
  command.flag("--explain", request->explain,
               "Draw how arguments and results lie; list every communication with\n"
               "bytes, time and the op that needs it, and every choice with what\n"
               "was rejected");
  command.flag("--program", request->program, "Print the program of one device instead");
  command.option("--carry", request->carry,
                 "As `heddle run --steps` has it: arg0-85=result1-86, or evident");
  command
      .option("--memory", request->memory,
              "What one device has, as 16GB: compiles for it, and fails\nwhere it is too little")
      .check(wrong_size);
  command.report(request->report);
  command.on_run([request] { run(*request); });
}

}  // namespace heddle::cli
