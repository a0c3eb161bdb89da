// heddle plan: how a program is dealt out over a mesh, and what its devices tell each other.
#include <memory>

#include "base/file.h"
#include "commands.h"
#include "heddle/carry.h"
#include "heddle/compile.h"
#include "heddle/pipeline_search.h"
#include "heddle/plan_file.h"
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
  int level = 0;                   // of a search; 0: as the plan says
  std::string output;              // a plan file
  std::optional<double> seconds;   // that it may take
  ReportOptions report;
};

// What is to be planned; its carries say which step of training is one of many.
Target planned_target(const Program& program, const PlanRequest& request) {
  const std::string entry = entry_of(program, request.entry);
  const Function* function = program.find_function(entry);
  if (function == nullptr && !request.entry.empty())
    throw no_function({program}, request.file, request.entry);
  Target target = target_of(request.mesh, entry);
  const bool searched = target.layouts.search > 0 || searches_pipeline(target);
  if (searched) {
    if (request.level > 0) target.layouts.search = request.level;
    target.layouts.search_seconds = request.seconds.value_or(0);
    if (const auto memory = bytes_of_option(request.memory)) target.layouts.device_memory = *memory;
    // A step of training is planned as one of many.
    if (request.carry.empty() && function != nullptr)
      target.carried = of_option(find_carry(program, *function, {}, false)).pairs;
  }
  if (request.carry.empty()) return target;
  if (function == nullptr)
    throw Error(
        fmt::format("--carry is for @main, which {} does not have: choose another with "
                    "--entry",
                    request.file));
  target.carried = of_option(find_carry(program, *function, request.carry)).pairs;
  return target;
}

// Stages are planned, and not written here; all else is.
PlanReport planned(const Program& program, const PlanRequest& request) {
  Target target = planned_target(program, request);
  Waiting waiting;
  target.options.progress = &waiting.progress;
  std::optional<FoundPipeline> found;
  if (searches_pipeline(target)) {
    found = of_option(search_pipeline(program, target));
    target = found->target;
  }
  if (found && found->shape.stages > 1 && !request.program) return plan_report(program, *found);
  const Spmd spmd = of_option(distribute(program, target));
  if (request.program) write_stdout(print_stablehlo(spmd.program));
  PlanReport report =
      plan_report(spmd, {.memory = bytes_of_option(request.memory), .explain = request.explain});
  if (found) report.pipeline = pipeline_report(*found);
  return report;
}

// Where arguments and results lie; the rest is found again from that.
void write_plan(const PlanReport& report, const PlanRequest& request) {
  const PlannedFunction* planned = nullptr;
  for (const PlannedFunction& f : report.functions)
    if (!f.mesh.empty() && planned == nullptr) planned = &f;
  if (planned == nullptr) throw Error("--output: there is no plan: the program is on one device");
  PlanFile plan;
  plan.mesh = planned->mesh;
  plan.search = planned->search || report.pipeline ? 2 : 0;
  if (report.pipeline) {
    plan.stages = report.pipeline->stages;
    plan.micro_batches = report.pipeline->micro_batches;
    plan.interleave = report.pipeline->interleave;
    plan.pipeline = report.pipeline->axis;
    plan.cut = report.pipeline->cut;
  }
  const auto add = [&](const char* word, const std::vector<PlannedFunction::Value>& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!values[i].part.empty())
        plan.shards.push_back({fmt::format("{}{}", word, i), values[i].sharding, {}, true});
  };
  add("arg", planned->arguments);
  add("result", planned->results);
  if (const Verdict done = write_file(request.output, plan_file_text(plan)); !done)
    throw Error("--output: " + done.reason());
}

void run(const PlanRequest& request) {
  if (!request.output.empty())
    if (const Verdict can = can_write(request.output); !can)
      throw Error("--output: " + can.reason());
  for (const Program& program : read_programs(request.file)) {
    const PlanReport report = planned(program, request);
    if (!request.output.empty()) write_plan(report, request);
    if (!request.program) write_report(report, request.report);
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
  command.option("-o,--output", request->output, "Write the plan there, for --plan");
  command
      .option("--level", request->level,
              "Of a search (--plan auto): 2 takes seconds, 3 goes on until the plan is\n"
              "proved to be the best, or --seconds are over")
      .check([](const std::string& text) {
        return text == "2" || text == "3" ? "" : "it is 2 or 3, not " + text;
      });
  command.option("--seconds", request->seconds,
                 "That a search may take; otherwise as many as it needs");
  command.report(request->report);
  command.on_run([request] { run(*request); });
}

}  // namespace heddle::cli
