// heddle plan: how a program is dealt out over a mesh, and what its devices tell each other.
#include <filesystem>
#include <memory>

#include "base/file.h"
#include "commands.h"
#include "heddle/carry.h"
#include "heddle/compile.h"
#include "heddle/pipeline_search.h"
#include "heddle/pipelined.h"
#include "heddle/plan_file.h"
#include "heddle/plan_report.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"
#include "option_values.h"
#include "plan_request.h"
#include "program_files.h"
#include "terminal.h"

namespace heddle::cli {
namespace {

// A step of training is planned as one of many.
std::vector<Carried> carried_by(const Program& program, const PlanRequest& request, bool searched) {
  const Function* function = program.find_function(entry_of(program, request.entry));
  if (request.carry.empty())
    return searched && function != nullptr
               ? of_option(find_carry(program, *function, {}, false)).pairs
               : std::vector<Carried>{};
  if (function == nullptr)
    throw Error(
        fmt::format("--carry is for @main, which {} does not have: choose another with "
                    "--entry",
                    request.file));
  return of_option(find_carry(program, *function, request.carry)).pairs;
}

Target target_for(const Program& program, const PlanRequest& request) {
  const std::string entry = entry_of(program, request.entry);
  if (program.find_function(entry) == nullptr && !request.entry.empty())
    throw no_function({program}, request.file, request.entry);
  Target target = target_of(request.mesh, entry);
  const bool searched = target.layouts.search > 0 || searches_pipeline(target);
  target.carried = carried_by(program, request, searched);
  if (!searched && (request.level > 0 || request.seconds))
    throw WrongUse{request.level > 0 ? "--level" : "--seconds",
                   "nothing is searched for: add --plan auto"};
  constexpr double kLongest = 1e6;
  if (request.seconds && !(*request.seconds > 0 && *request.seconds <= kLongest))
    throw WrongUse{"--seconds", "write a number above 0, at most 1000000"};
  if (!searched) return target;
  if (request.level > 0) target.layouts.search = request.level;
  target.layouts.search_seconds = request.seconds.value_or(0);
  target.layouts.search_details = !request.html.empty() || !request.why.empty();
  const auto memory = bytes_of_option(request.memory);
  std::int64_t& limit = target.layouts.device_memory;
  if (memory && limit != INT64_MAX && limit != *memory)
    throw WrongUse{"--memory", "--fix memory, or the plan file, says another"};
  if (memory) limit = *memory;
  return target;
}

// Where arguments and results lie; the rest is found again from that.
PlanFile plan_file(const PlanReport& report, const Target& target) {
  const PlannedFunction* planned = nullptr;
  for (const PlannedFunction& f : report.functions)
    if (!f.mesh.empty() && planned == nullptr) planned = &f;
  if (planned == nullptr) throw Error("--output: there is no plan: the program is on one device");
  PlanFile plan;
  plan.mesh = planned->mesh;
  plan.search = planned->search || report.pipeline ? std::max(2, target.layouts.search) : 0;
  if (report.pipeline) {
    plan.stages = report.pipeline->stages;
    plan.micro_batches = report.pipeline->micro_batches;
    plan.interleave = report.pipeline->interleave;
    plan.pipeline = report.pipeline->axis;
    plan.cut = report.pipeline->cut;
  }
  if (planned->search) {
    plan.recompute = planned->search->effort;
    // What is only better kept follows from the cluster again.
    if (target.layouts.device_memory != INT64_MAX) plan.memory = target.layouts.device_memory;
  }
  const auto add = [&](const char* word, const std::vector<PlannedFunction::Value>& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!values[i].part.empty())
        plan.shards.push_back({fmt::format("{}{}", word, i), values[i].sharding, {}, true});
  };
  add("arg", planned->arguments);
  add("result", planned->results);
  return plan;
}

void write_plan(const PlanReport& report, const Dealt& dealt, const Target& target,
                const PlanRequest& request) {
  PlanFile plan = plan_file(report, target);
  if (dealt.pipeline) plan.memory.reset();  // where values lie says it
  const std::string text = plan_file_text(plan);
  if (const Verdict done = write_file(request.output, text); !done)
    throw Error("--output: " + done.reason());
}

void want_writable(const char* option, const std::string& file) {
  if (file.empty()) return;
  if (const Verdict can = can_write(file); !can) throw Error(std::string(option) + can.reason());
}

void write_page(const Spmd& spmd, const PlanReport& report, const PlanRequest& request) {
  const std::string title =
      "heddle plan " + std::filesystem::path(request.file).filename().string();
  const std::string page = plan_page(spmd, report, title, memory_of_device(request));
  if (const Verdict done = write_file(request.html, page); !done)
    throw Error("--html: " + done.reason());
}

// The program of one device, or those of the stages.
std::string program_text(const Dealt& dealt) {
  if (!dealt.pipeline) return print_stablehlo(dealt.spmd().program);
  std::string text;
  for (std::size_t s = 0; s < dealt.pipeline->programs.stages.size(); ++s)
    text += fmt::format("{}// stage {}\n{}", s == 0 ? "" : "// -----\n", s,
                        print_stablehlo(dealt.pipeline->programs.stages[s].program));
  return text;
}

Dealt deal(const Program& program, const Target& asked, const PlanRequest& request) {
  Dealt dealt;
  Target target = asked;
  if (searches_pipeline(target)) {
    dealt.found = stoppably(
        target, [&](const Target& t) { return search_pipeline(program, t); }, &dealt.stopped_by);
    target = dealt.found->target;
  }
  if (target.pipeline.empty())
    dealt.whole = stoppably(
        target, [&](const Target& t) { return distribute(program, t); }, &dealt.stopped_by);
  else
    dealt.pipeline = stoppably(
        target, [&](const Target& t) { return distribute_pipeline(program, t, request.program); },
        &dealt.stopped_by);
  return dealt;
}

PlanReport report_of(const Dealt& dealt, const PlanRequest& request) {
  const PlanReportOptions options{.memory = bytes_of_option(request.memory),
                                  .explain = request.explain};
  const FoundPipeline* const found = dealt.found ? &*dealt.found : nullptr;
  if (dealt.pipeline) return plan_report(*dealt.pipeline, found, options);
  return found != nullptr ? plan_report(*dealt.whole, *found, options)
                          : plan_report(*dealt.whole, options);
}

struct Before {
  double bound = 0, seconds = 0;
};
Before search_of(const Spmd& spmd) {
  Before before;
  for (const FunctionPlan& plan : spmd.decided->functions)
    if (plan.found) {
      before.bound = std::max(before.bound, plan.found->bound);
      before.seconds = std::max(before.seconds, plan.found->seconds);
    }
  return before;
}

// The plan that whoever reads the file will have: found around where arguments and results lie,
// which says more than was known before, so that it may be another one.
Spmd as_it_will_be_read(const Program& program, const Spmd& spmd, Target target, int& stopped_by) {
  const PlanFile file = plan_file(plan_report(spmd), target);
  of_option(take_plan(target, file));
  if (target.mesh.empty() || target.mesh == kOwnMesh) target.mesh = file.mesh;
  target.layouts.batch.clear();
  target.layouts.seeds.clear();
  return stoppably(target, [&](const Target& t) { return distribute(program, t); }, &stopped_by);
}

// The bound of the search before, which nothing was given, since this one's holds for its boundary
// alone; and the time of both.
void add_search_before(PlanReport& report, const Before& before) {
  for (PlannedFunction& f : report.functions)
    if (f.search) {
      f.search->bound = std::min(f.search->bound, before.bound);
      f.search->gap = (f.search->cost - f.search->bound) / f.search->cost;
      f.search->seconds += before.seconds;
    }
}

// What steps of a schedule call the values of a device's program.
void print_values(const Program& program, Target target) {
  target.schedule.reset();
  std::string text;
  target.options.on_program = [&](std::string_view stage, const Program& local) {
    const Function* f = local.find_function(target.options.entry);
    if (stage != "spmd" || f == nullptr) return;
    for (const ScheduleValue& v : schedule_values(local, *f))
      text += v.from.empty() ? fmt::format("{:<24} {}\n", v.name, v.type)
                             : fmt::format("{:<24} {:<28} {}\n", v.name, v.type, v.from);
  };
  (void)of_option(distribute(program, target));
  write_stdout(text);
}

void run(const PlanRequest& request) {
  want_writable("--output: ", request.output);
  want_writable("--html: ", request.html);
  for (const Program& program : read_programs(request.file)) {
    Target target = target_for(program, request);
    if (request.values) {
      print_values(program, target);
      continue;
    }
    (void)tune_for(program, request.mesh, target, [&](const std::string& text) {
      if (!request.report.json) write_stdout(text);
    });
    std::vector<StepTaken> taken;
    target.options.on_schedule = [&](const std::vector<StepTaken>& steps) { taken = steps; };
    Dealt dealt = deal(program, target, request);
    const bool is_searched = target.layouts.search > 0 && dealt.whole && !dealt.found;
    // Who has stopped the search does not want another one.
    const bool is_read_again = is_searched && !request.output.empty() && dealt.stopped_by == 0;
    const Before before = is_read_again ? search_of(*dealt.whole) : Before{};
    if (is_read_again)
      dealt.whole = as_it_will_be_read(program, *dealt.whole, target, dealt.stopped_by);
    if (!request.why.empty()) {
      answer_why(program, dealt, target, request);
      continue;
    }
    PlanReport report = report_of(dealt, request);
    report.schedule = std::move(taken);
    if (is_read_again) add_search_before(report, before);
    if (!request.output.empty())
      write_plan(report, dealt, dealt.found ? dealt.found->target : target, request);
    if (!request.html.empty()) write_page(dealt.spmd(), report, request);
    if (request.program)
      write_stdout(program_text(dealt));
    else
      write_report(report, request.report);
    if (!report.failure.empty()) throw Error(report.failure);
    // As runs do that are stopped: what there is has been told.
    if (dealt.stopped_by != 0) throw Exit{128 + dealt.stopped_by};
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
  command.flag("--program", request->program,
               "Print the program of one device instead, or those of all stages");
  command.flag("--values", request->values,
               "List what a --schedule may name of the program of one device instead");
  command.option("--carry", request->carry,
                 "As `heddle run --steps` has it: arg0-85=result1-86, or evident");
  command
      .option(
          "--memory", request->memory,
          "What one device has, as 16GB: compiles for it (stages of large\npipelines are counted), "
          "and fails where it is too little")
      .check(wrong_size);
  command.option("-o,--output", request->output, "Write the plan there, for --plan").not_empty();
  command
      .option("--html", request->html,
              "Write a page for a browser: layers, pictures of layouts, communication\n"
              "by cost, memory over time, a pipeline's timeline, and what else every\n"
              "choice could be")
      .not_empty();
  command
      .option("--why", request->why,
              "What else something could be and what that would cost, instead of the\n"
              "plan: an argument or result (arg6, params['w']), the line of an op\n"
              "(f.mlir:12), another size of an axis (tp=4), stages=2 or micro_batches=8")
      .not_empty();
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
