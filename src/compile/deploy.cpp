#include <algorithm>
#include <chrono>
#include <map>

#include "compile.h"
#include "compile/dump.h"
#include "compile/predict.h"
#include "heddle/execute.h"
#include "heddle/op.h"
#include "heddle/ranks.h"
#include "heddle/signature.h"
#include "heddle/spmd.h"

namespace heddle {
namespace {

void count_ops(const Program& program, RegionId region, std::map<std::string, int>& counts) {
  for (const OpId id : program.region(region).ops) {
    const Op& op = program.op(id);
    if (op.def->form != Form::terminator) ++counts[std::string(op.def->short_name())];
    for (const RegionId inner : program.regions(op)) count_ops(program, inner, counts);
  }
}

// What can be explained where the interpreter runs: which ops, how many.
std::string interpreter_text(const Program& program, const Function& function) {
  constexpr std::size_t kMostNamed = 8;
  std::map<std::string, int> counts;
  count_ops(program, function.body, counts);
  std::vector<std::pair<int, std::string>> most;
  int all = 0;
  for (const auto& [name, n] : counts) {
    most.emplace_back(-n, name);
    all += n;
  }
  std::ranges::sort(most);
  std::string text = fmt::format(
      "the reference takes ops one by one as they stand, with nothing fused or planned; @{} has {}",
      function.name, all);
  for (std::size_t i = 0; i < std::min(most.size(), kMostNamed); ++i)
    text += fmt::format("{} {} {}", i == 0 ? ":" : ",", -most[i].first, most[i].second);
  return text + (most.size() > kMostNamed ? ", ..." : "");
}

// On whole arrays. Ranks of an interpreter all run all of it.
Deployed on_interpreter(const Program& program, const Function& function, Deployment::RunWhole run,
                        const ExecuteOptions& how, const InterpretOptions& options) {
  Placement whole =
      Placement::on_one_device(argument_types(program, function), result_types(program, function));
  Deployed deployed{Deployment::of(std::move(run), std::move(whole), how.ranks)};
  deployed.memory_limit = options.memory_limit;
  return deployed;
}

Deployed interpreted_here(const Program& program, const Function& function,
                          const ExecuteOptions& how, const InterpretOptions& options) {
  const auto run = [&program, &function, options](std::vector<Array> arguments) {
    return interpret(program, function, std::move(arguments), options);
  };
  Deployed deployed = on_interpreter(program, function, run, how, options);
  if (how.explain) deployed.interpreted_because = interpreter_text(program, function);
  return deployed;
}

Expected<Deployed> interpreted_on_mesh(const Program& program, const Function& function,
                                       const Target& target, const ExecuteOptions& how,
                                       const InterpretOptions& options) {
  HEDDLE_TRY(Spmd distributed, distribute(program, target));
  const auto spmd = std::make_shared<const Spmd>(std::move(distributed));
  const SpmdFunction* local = spmd->find(function.name);
  if (local == nullptr || local->mesh == kNone)
    return reason("nothing says on which mesh @{} runs: name one, as in `mesh` dp=2,tp=2",
                  function.name);
  const auto run = [spmd, local](const std::vector<Array>& arguments) {
    return interpret_on_mesh(*spmd, *local, arguments);
  };
  Deployed deployed = on_interpreter(program, function, run, how, options);
  if (how.explain)
    deployed.interpreted_because =
        interpreter_text(spmd->program, *spmd->program.find_function(function.name));
  return deployed;
}

bool is_first(const ExecuteOptions& how) { return how.ranks == nullptr || how.ranks->rank() == 0; }

Expected<Executable> compiled(const Program& program, Target target, const ExecuteOptions& how,
                              const InterpretOptions& options) {
  CompileOptions& compile_options = target.options;
  compile_options.stitch.explain = how.explain;
  compile_options.machine_code = how.engine != Engine::kernels;
  compile_options.memory_limit = options.memory_limit;
  target.ranks = how.ranks != nullptr;
  if (target.ranks) target.rank = how.ranks->rank();
  HEDDLE_TRY(Dump dump, Dump::open(target.mesh.empty() || is_first(how) ? how.dump : ""));
  dump.watch(compile_options);
  HEDDLE_TRY(Executable executable, compile(program, target));
  HEDDLE_TRY_VOID(executable.placement().has_wholes());
  return executable;
}

// The words that a program is asked for in, as far as ranks have to agree on them.
std::vector<std::string> asked_for(const Target& target, const ExecuteOptions& how) {
  std::vector<std::string> words = {fmt::format("engine {}", name(how.engine))};
  words.push_back(target.mesh.empty() ? "no mesh" : "mesh " + target.mesh);
  for (const ShardEntry& entry : target.layouts.shards)
    words.push_back(fmt::format("shard {}={}", entry.name, entry.sharding));
  words.emplace_back(target.layouts.closed ? "closed layouts" : "open layouts");
  words.push_back(fmt::format("search {}", target.layouts.search));
  if (target.cluster) words.push_back("cluster " + target.cluster->name);
  words.emplace_back(target.options.overlap ? "overlap" : "sequence");
  if (target.schedule) words.push_back("schedule " + text_of(*target.schedule));
  return words;
}

// What nobody but the program asked for must not keep it from running.
Expected<Executable> compiled_where_it_can(const Program& program, Target target,
                                           const ExecuteOptions& how,
                                           const InterpretOptions& options) {
  auto executable = compiled(program, target, how, options);
  const bool insists = target.mesh != kOwnMesh || !target.layouts.shards.empty() || target.schedule;
  if (executable || insists) return executable;
  target.mesh.clear();
  const std::string why = executable.reason();
  executable = compiled(program, target, how, options);
  if (executable && how.say && is_first(how))
    how.say("runs on one device, not on the program's mesh: " + why);
  return executable;
}

}  // namespace

void Deployed::describe(Execution& done) const {
  done.compile_seconds = compile_seconds;
  done.interpreted_because = interpreted_because;
  done.predicted_seconds = predicted_seconds;
  if (!executable) return;
  done.steps = executable->steps();
  for (std::size_t i = 0; i < predicted_steps.size(); ++i)
    done.steps[i].expected_seconds = predicted_steps[i];
  for (const Executable& stage : executable->stages()) {
    done.peak_bytes = std::max(done.peak_bytes, stage.peak_bytes());
    if (!deployment.placement().stages().empty()) done.stage_steps.push_back(stage.steps().size());
  }
  if (!deployment.placement().on_mesh()) return;
  done.argument_bytes = deployment.placement().argument_bytes();
  done.devices = deployment.placement().devices();
  done.memory_limit = memory_limit;
}

Expected<Deployed> deploy(const Program& program, const Function& function, const Target& asked,
                          const ExecuteOptions& how, const InterpretOptions& options) {
  Target target = asked;
  target.options.verified = true;
  if (how.ranks != nullptr)
    HEDDLE_TRY_VOID(compare_programs(*how.ranks, program, function, asked_for(target, how)));
  const bool has_stages =
      !target.pipeline.empty() || target.stages != 1 || target.micro_batches == 0;
  if (how.engine == Engine::interpreter && has_stages)
    return reason(
        "the interpreter runs one program, and stages of a pipeline have one each: the engine "
        "kernels runs them without machine code, or leave out the stages");
  if (how.engine == Engine::interpreter && target.mesh.empty())
    return interpreted_here(program, function, how, options);
  if (how.engine == Engine::interpreter)
    return interpreted_on_mesh(program, function, target, how, options);
  const auto begun = std::chrono::steady_clock::now();
  std::optional<double> predicted;
  target.options.on_spmd = [&predicted, seen = asked.options.on_spmd](const Spmd& spmd) {
    for (const FunctionPlan& plan : spmd.decided->functions)
      if (plan.found) predicted = plan.found->cost;
    if (seen) seen(spmd);
  };
  CompileReport report;
  if (target.options.report == nullptr) target.options.report = &report;
  HEDDLE_TRY(Executable executable, compiled_where_it_can(program, target, how, options));
  const CompileReport& decided = *target.options.report;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::vector<double> of_steps;
  if (decided.pipeline_seconds > 0 && target.layouts.search > 0)
    predicted = predict_pipeline(executable, decided, target.cluster);
  else if (!target.cluster)
    predicted.reset();  // nobody said whose time that would be
  else if (predicted)
    if (auto by_steps = predict(executable, *target.cluster)) {
      predicted = by_steps->seconds;
      of_steps = std::move(by_steps->step_seconds);
    }
  const std::string why = executable.interpreted_because();
  if (!executable.placement().on_mesh() && !why.empty() && how.parallel) {
    InterpretOptions parallel = options;
    parallel.run_parallel = how.parallel;
    Deployed done = interpreted_here(program, function, how, parallel);
    done.interpreted_because = why;
    return done;
  }
  HEDDLE_TRY(Deployment deployment,
             Deployment::open(executable, {.ranks = how.ranks, .watchdog = how.watchdog}));
  const std::int64_t limit = options.memory_limit / executable.placement().devices();
  return Deployed{std::move(deployment), std::move(executable), took.count(), limit, why, predicted,
                  std::move(of_steps)};
}

}  // namespace heddle
