// heddle plan: how a program is dealt out over a mesh, and what its devices tell each other.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/file.h"
#include "base/words.h"
#include "commands.h"
#include "heddle/carry.h"
#include "heddle/compile.h"
#include "heddle/pipeline_search.h"
#include "heddle/plan_file.h"
#include "heddle/plan_report.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"
#include "heddle/why_report.h"
#include "mesh_request.h"
#include "option_values.h"
#include "program_files.h"
#include "stoppable.h"
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
  std::string html;                // a page for a browser
  std::string why;                 // a value, an op's line or an axis that somebody asks about
  std::optional<double> seconds;   // that it may take
  ReportOptions report;
};

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
  if (!searched) return target;
  if (request.level > 0) target.layouts.search = request.level;
  target.layouts.search_seconds = request.seconds.value_or(0);
  target.layouts.search_details = !request.html.empty() || !request.why.empty();
  const auto memory = bytes_of_option(request.memory);
  std::int64_t& limit = target.layouts.device_memory;
  if (memory && limit != INT64_MAX && limit != *memory)
    throw WrongUse{"--memory", "--fix memory says another"};
  if (memory) limit = *memory;
  return target;
}

// With a line for who waits; Ctrl-C asks for the best plan so far.
template <typename Work>
auto stoppably(Target& target, Work work) {
  const Stoppable stoppable;
  Waiting waiting;
  target.options.progress = &waiting.progress;
  target.layouts.search_stop = stoppable.token();
  auto done = work(target);
  target.options.progress = nullptr;
  if (done && stoppable.is_stopped()) say("heddle: stopped; this is the best plan that was found");
  return of_option(std::move(done));
}

// What a device has, where somebody says it.
std::optional<std::int64_t> memory_of_device(const PlanRequest& request) {
  if (const auto said = bytes_of_option(request.memory)) return said;
  if (request.mesh.cluster.empty()) return std::nullopt;
  return of_option(find_cluster(request.mesh.cluster)).memory;
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

void write_plan(const PlanReport& report, const Target& target, const PlanRequest& request) {
  const std::string text = plan_file_text(plan_file(report, target));
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

// tp=4, or dp=4,tp=2
bool names_axes(const std::string& what) {
  return std::ranges::all_of(split_outside(what, ','), [](const std::string& one) {
    const std::size_t cut = one.find('=');
    return cut != one.npos && cut > 0 && cut + 1 < one.size() &&
           one.find_first_not_of("0123456789", cut + 1) == one.npos;
  });
}

// What the same search finds on another mesh.
OtherMesh on_other_mesh(const Program& program, const FoundPlan& found, const std::string& mesh,
                        Target target, const PlanRequest& request) {
  OtherMesh other{.question = request.why,
                  .mesh = mesh,
                  .other_mesh = of_option(other_mesh(mesh, request.why)),
                  .seconds = found.cost,
                  .bytes = found.peak_bytes,
                  .limit = memory_of_device(request).value_or(INT64_MAX),
                  .other_seconds = {}};
  target.mesh = other.other_mesh;
  target.layouts.search_details = false;
  const auto plan = stoppably(target, [&](const Target& t) {
    const auto tried = find_plan(program, t);
    if (!tried) other.why_not = tried.reason();
    return Expected<std::optional<FoundPlan>>(tried ? std::optional(*tried) : std::nullopt);
  });
  if (plan) {
    other.other_seconds = plan->cost;
    other.other_bytes = plan->peak_bytes;
  }
  return other;
}

void answer_why(const Program& program, const Spmd& spmd, const Target& target,
                const PlanRequest& request) {
  const std::string entry = entry_of(program, request.entry);
  if (!names_axes(request.why))
    return write_report(of_option(why_report(spmd, entry, request.why)), request.report);
  for (std::size_t i = 0; i < spmd.decided->functions.size(); ++i) {
    const FunctionPlan& plan = spmd.decided->functions[i];
    if (!plan.found) continue;
    const std::string mesh = spmd.logical().meshes[plan.mesh].mesh.str();
    return write_report(on_other_mesh(program, *plan.found, mesh, target, request), request.report);
  }
  throw WrongUse{"--why", "meshes are compared by a search: add --plan auto"};
}

// Stages have programs of their own, which are not written here.
void tell_stages(const Program& program, const FoundPipeline& found, const PlanRequest& request) {
  for (const auto& [option, is_asked] :
       {std::pair("--program", request.program), std::pair("--why", !request.why.empty()),
        std::pair("--html", !request.html.empty())})
    if (is_asked) throw WrongUse{option, "the plan has stages, of which it does not tell yet"};
  const PlanReport report = plan_report(program, found);
  if (!request.output.empty()) write_plan(report, found.target, request);
  write_report(report, request.report);
}

double bound_of(const Spmd& spmd) {
  double bound = 0;
  for (const FunctionPlan& plan : spmd.decided->functions)
    if (plan.found) bound = std::max(bound, plan.found->bound);
  return bound;
}

// The plan that whoever reads the file will have: found around where arguments and results lie,
// which says more than was known before, so that it may be another one.
Spmd as_it_will_be_read(const Program& program, const Spmd& spmd, Target target) {
  const PlanFile file = plan_file(plan_report(spmd, {}), target);
  of_option(take_plan(target, file));
  if (target.mesh.empty() || target.mesh == kOwnMesh) target.mesh = file.mesh;
  target.layouts.batch.clear();
  target.layouts.seeds.clear();
  return stoppably(target, [&](const Target& t) { return distribute(program, t); });
}

// The bound of the search before, which nothing was given; this one's holds for its boundary alone.
void widen_bound(PlanReport& report, double bound) {
  for (PlannedFunction& f : report.functions)
    if (f.search) {
      f.search->bound = std::min(f.search->bound, bound);
      f.search->gap = (f.search->cost - f.search->bound) / f.search->cost;
    }
}

void run(const PlanRequest& request) {
  want_writable("--output: ", request.output);
  want_writable("--html: ", request.html);
  for (const Program& program : read_programs(request.file)) {
    Target target = target_for(program, request);
    std::optional<FoundPipeline> found;
    if (searches_pipeline(target)) {
      found = stoppably(target, [&](const Target& t) { return search_pipeline(program, t); });
      target = found->target;
    }
    if (found && found->shape.stages > 1) {
      tell_stages(program, *found, request);
      continue;
    }
    Spmd spmd = stoppably(target, [&](const Target& t) { return distribute(program, t); });
    const double bound = bound_of(spmd);
    const bool is_searched = target.layouts.search > 0 && !found;
    if (is_searched && !request.output.empty()) spmd = as_it_will_be_read(program, spmd, target);
    if (!request.why.empty()) {
      answer_why(program, spmd, target, request);
      continue;
    }
    PlanReport report =
        plan_report(spmd, {.memory = bytes_of_option(request.memory), .explain = request.explain});
    if (found) report.pipeline = pipeline_report(*found);
    if (is_searched) widen_bound(report, bound);
    if (!request.output.empty()) write_plan(report, target, request);
    if (!request.html.empty()) write_page(spmd, report, request);
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
  command.option("-o,--output", request->output, "Write the plan there, for --plan");
  command.option("--html", request->html,
                 "Write a page for a browser: layers, pictures of layouts, communication\n"
                 "by cost, memory over time, and what else every choice could be");
  command
      .option("--why", request->why,
              "What else something could be and what that would cost, instead of the\n"
              "plan: an argument or result (arg6, params['w']), the line of an op\n"
              "(f.mlir:12), or another size of an axis (tp=4)")
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
