// The pipeline, from top to bottom, for one device and for many:
//
//   verify, inline, client ops, [mesh: spmd, schedule], lower, simplify, stitch, kernels, code,
//   memory
//
// What a stage leaves is verified before the next one sees it.
#include "heddle/compile.h"

#include <algorithm>

#include "base/fork.h"
#include "base/text.h"
#include "compile.h"
#include "compile/distribute.h"
#include "compile/figures.h"
#include "compile/infeasible.h"
#include "compile/pipeline.h"
#include "compile/plan_cache.h"
#include "compile/stages.h"
#include "compile/within_memory.h"
#include "heddle/device_memory.h"
#include "heddle/inline.h"
#include "heddle/lower.h"
#include "heddle/pipeline_search.h"
#include "heddle/schedule.h"
#include "heddle/schedule_text.h"
#include "heddle/simplify.h"
#include "heddle/verify.h"
#include "kernel/lower_group.h"

namespace heddle {

using namespace runtime;

namespace {

Expected<Executable> compile_as_told(const Program& source, const Target& target);
Expected<Executable> compile_local(const Local& local, const Target& target, Stages& stages);

// ---- the whole program: what it means, and who does which part of it

Expected<Program> core_program(const Program& flat, const Target& target, Stages& stages) {
  const auto keep = [&](const OpDef& def) { return stays_whole(def, device_of(target)); };
  HEDDLE_TRY(Program core, lower_chlo(flat, {.keep = keep}));
  stages.done("client", core);
  return core;
}

Expected<Spmd> spmd_program(const Program& core, const Target& wished, Stages& stages) {
  HEDDLE_TRY(const Target target, with_best_pipeline(core, wished));
  if (!target.pipeline.empty())
    return reason(
        "stages of a pipeline have programs of their own: there is no one program of all devices "
        "to show");
  HEDDLE_TRY(const auto cut, micro_batches_of(core, target));
  const MicroBatches* const micro = cut ? &*cut : nullptr;
  SearchesByLimit done;
  auto dealt = dealt_out(core, target, micro, done);
  if (!dealt) return with_what_would_do(core, target, micro, done, dealt.why());
  Spmd spmd = *std::move(dealt);
  stages.done("spmd", spmd.program);
  if (target.options.on_unordered) target.options.on_unordered(spmd);
  if (target.schedule) {
    HEDDLE_TRY(const std::vector<StepTaken> taken,
               apply_schedule(spmd, target.options.entry, *target.schedule, target.carried));
    if (target.options.on_schedule) target.options.on_schedule(taken);
  }
  // Whoever has stopped the search waits: what devices do is right in any order.
  if (!target.layouts.search_stop.stop_requested())
    spmd.program = schedule(spmd.program, schedule_options(target));
  stages.done("schedule", spmd.program);
  if (target.options.on_spmd) target.options.on_spmd(spmd);
  return spmd;
}

Reason on_no_mesh(const std::string& function) {
  return reason("nothing says on which mesh @{} runs: name one, as in dp=2,tp=2", function);
}

// What all devices have together is an equal part for each, arguments included.
Verdict fits(const Executable& executable, const Spmd& spmd, const SpmdFunction& function,
             std::int64_t together) {
  if (together == INT64_MAX) return yes();
  const std::int64_t each = together / executable.placement().devices();
  const std::string whose =
      fmt::format("each may have {}, an equal part of {}", format_bytes(static_cast<double>(each)),
                  format_bytes(static_cast<double>(together)));
  return want_memory(device_memory(spmd, function, executable), each, whose, spmd, function);
}

// A program that was written per device has its order too.
Program in_order(Program core, const Target& target, Stages& stages) {
  const Function& f = *core.find_function(target.options.entry);
  if (collectives_of(core, f) == 0) return core;
  core = schedule(core, {.overlap = target.options.overlap});
  stages.done("schedule", core);
  return core;
}

// Each stage by itself: arguments and results have other numbers there.
Target for_stage(const Target& target, const StageProgram& stage) {
  Target own = target;
  own.carried.clear();
  own.options.donated.clear();
  const auto place_of = [](const std::vector<std::size_t>& list, std::size_t number) {
    return static_cast<std::size_t>(std::ranges::find(list, number) - list.begin());
  };
  for (const Carried& c : target.carried) {
    const Carried here{place_of(stage.arguments, c.argument), place_of(stage.results, c.result)};
    if (here.argument < stage.arguments.size()) own.carried.push_back(here);
  }
  for (std::size_t a : stage.arguments)
    own.options.donated.push_back(a < target.options.donated.size() && target.options.donated[a]);
  return own;
}

std::int64_t argument_bytes(const Executable& executable, std::size_t stage) {
  const Placement& placement = executable.placement();
  std::int64_t bytes = 0;
  const std::int64_t device = placement.stages()[stage][0];
  for (std::size_t i : placement.on_device(placement.arguments, device))
    bytes += placement.arguments[i].part_type_on(device).bytes();
  return bytes;
}

// What all devices have together is an equal part for each, arguments included.
Verdict stage_fits(const Executable& executable, std::size_t stage, std::int64_t together) {
  if (together == INT64_MAX) return yes();
  const std::int64_t each = together / executable.placement().devices();
  const std::int64_t arguments = argument_bytes(executable, stage);
  const auto text = [](std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); };
  if (arguments + executable.peak_bytes() <= each) return yes();
  return reason(
      "a device of stage {} needs {} for its arguments and {} for values that it computes; each "
      "may "
      "have {}, an equal part of {}",
      stage, text(arguments), text(executable.peak_bytes()), text(each), text(together));
}

Expected<Executable> compile_stage(const Pipeline& pipeline, std::size_t s, const Target& target,
                                   Stages& stages) {
  const StageProgram& stage = pipeline.programs.stages[s];
  stages.done("spmd", stage.program);
  Local local{schedule(stage.program, {.overlap = target.options.overlap}), pipeline.placement};
  stages.done("schedule", local.program);
  local.interpreted_because = why_interpreted(local.program, target.options.entry);
  if (!local.interpreted_because.empty())
    return reason("stage {} cannot run on a device: {}", s, local.interpreted_because);
  return compile_local(local, for_stage(target, stage), stages);
}

// All stages, or that of this rank alone.
Expected<Executable> compile_pipeline(const Program& core, const Target& target, Stages& stages) {
  if (target.schedule)
    return reason("stages of a pipeline have programs of their own, and {} is for one program",
                  target.schedule->file);
  HEDDLE_TRY(const Pipeline pipeline, pipeline_on(core, target, true));
  if (CompileReport* const report = target.options.report) {
    report->pipeline_seconds = pipeline.times.seconds;
    report->stage_seconds.clear();
    for (const PipelineTimes::Stage& stage : pipeline.times.stages)
      report->stage_seconds.push_back(stage.busy);
  }
  std::vector<Executable> made;
  for (std::size_t s = 0; s < pipeline.programs.stages.size(); ++s) {
    const bool is_mine = pipeline.placement.stage_of(target.rank) == static_cast<int>(s);
    if (target.ranks && !is_mine) continue;
    HEDDLE_TRY(Executable executable, compile_stage(pipeline, s, target, stages));
    HEDDLE_TRY_VOID(stage_fits(executable, s, target.options.memory_limit));
    made.push_back(std::move(executable));
  }
  return Executable::together(std::move(made));
}

Expected<Executable> compile_spmd(const Spmd& spmd, const SpmdFunction& function,
                                  const Target& target, Stages& stages) {
  HEDDLE_TRY(Executable executable, compile_local(on_mesh(spmd, function), target, stages));
  HEDDLE_TRY_VOID(fits(executable, spmd, function, target.options.memory_limit));
  return executable;
}

}  // namespace

// Where the limit leaves no room for what is under way together, all is done in sequence.
Expected<Executable> compile(const Program& source, const Target& target) {
  const ForkHold hold;  // caches of code are in the middle of it
  Expected<Executable> executable = compile_as_told(source, target);
  const bool is_limited = target.options.memory_limit != INT64_MAX;
  if (executable || !target.options.overlap || !is_limited) return executable;
  Target in_sequence = target;
  in_sequence.options.overlap = false;
  return compile_as_told(source, in_sequence);
}

namespace {

Expected<Executable> compile_as_told(const Program& source, const Target& wished) {
  Target target = wished;
  const std::string& entry = target.options.entry;
  Stages stages(target.options);
  HEDDLE_TRY(const Program program, with_entry_only(source, entry));
  if (!target.options.verified) HEDDLE_TRY_VOID(verify(program));
  stages.done("verify");
  // A process that ends while libraries are being opened dies, so that this call sees the end of
  // it.
  const auto opening = device_of(target).open_ahead(program);

  Local local = on_one_device(program, target);
  const bool on_mesh = names_mesh(program, target);
  if (target.schedule && !on_mesh)
    return reason("{} is for devices of a mesh: name one, as in dp=2", target.schedule->file);
  if (!on_mesh && !local.interpreted_because.empty()) return interpreted(local, target);
  const auto flat = inline_calls(program);
  if (!flat && on_mesh) return flat.why();
  if (!flat) {
    local.interpreted_because = flat.reason();
    return interpreted(local, target);
  }
  stages.done("inline", *flat);
  HEDDLE_TRY(Program core, core_program(*flat, target, stages));
  HEDDLE_TRY(target, with_best_pipeline(core, wished));
  if (!target.pipeline.empty()) return compile_pipeline(core, target, stages);
  if (on_mesh) {
    HEDDLE_TRY(const Spmd spmd, spmd_program(core, target, stages));
    const SpmdFunction& function = *spmd.find(entry);
    // Only its own mesh is left aside for what has to be interpreted as a whole.
    const bool asked = target.mesh != kOwnMesh;
    if (function.mesh != kNone &&
        (asked || heddle::on_mesh(spmd, function).interpreted_because.empty()))
      return compile_spmd(spmd, function, target, stages);
    if (asked) return on_no_mesh(entry);
  }
  HEDDLE_TRY(const auto cut, micro_batches_of(core, target));
  if (cut) {
    HEDDLE_TRY(core, accumulated(cut->program, *cut));
    stages.done("micro-batches", core);
  }
  if (local.interpreted_because.empty()) local.program = in_order(std::move(core), target, stages);
  return compile_local(local, target, stages);
}

// ---- the program of one device: kernels, library calls and memory

Expected<Executable> compile_local(const Local& local, const Target& target, Stages& stages) {
  if (!local.interpreted_because.empty()) return interpreted(local, target);
  const CompileOptions& options = target.options;
  const MachineFigures machine = figures_for(target, local.placement.devices());

  HEDDLE_TRY(Program program, lower_for_kernels(local.program));
  HEDDLE_TRY(program, lower_complex(program));
  stages.done("lower", program);
  HEDDLE_TRY(program, simplify(program));
  if (options.stitch.fuse) {
    HEDDLE_TRY(program, with_scans_in_parts(program, machine));
    HEDDLE_TRY(program, with_epilogues(program, device_of(target)));
    HEDDLE_TRY(program, with_own_copies(program, &device_of(target), machine));
    HEDDLE_TRY(program, with_even_rows(program, device_of(target), machine));
  }
  stages.done("simplify", program);

  CompiledProgram compiled;
  compiled.program = std::move(program);
  compiled.device = &device_of(target);
  const Function* entry = compiled.program.find_function(options.entry);
  compiled.function = static_cast<std::size_t>(entry - compiled.program.functions.data());
  if (options.report)
    options.report->ops = compiled.program.region(compiled.entry().body).ops.size();
  StitchOptions stitch = options.stitch;
  stitch.machine = machine;
  stitch.calls = compiled.device;
  stitch.can_lower = [&](const Program& p, const StitchGroup& group) {
    return lower_group(p, group, machine).ok();
  };
  const PlanCache* const kept = PlanCache::shared();
  const auto key = kept != nullptr ? PlanCache::key_of(compiled, stitch) : std::nullopt;
  const bool is_kept = key && kept->find(*key, compiled);
  if (!is_kept) HEDDLE_TRY_VOID(stitch_regions(compiled, compiled.entry().body, stitch));
  stages.done("stitch");
  HEDDLE_TRY_VOID(make_kernels(compiled, options, machine, [&] {
    if (key && !is_kept) kept->keep(*key, compiled);
    stages.done("kernels");
  }));
  if (options.report) options.report->plan_from_cache = is_kept;
  stages.done("code");
  auto executable = assemble(std::move(compiled), assembly(local, target));
  stages.done("memory");
  return executable;
}

}  // namespace

Expected<Executable> compile(const Program& program, const CompileOptions& options) {
  Target one_device;
  one_device.options = options;
  return compile(program, one_device);
}

Expected<Program> program_to_deal(const Program& source, const Target& target, Stages& stages) {
  Program program = source;
  // The function that is meant stays, also where only others call it.
  for (Function& f : program.functions)
    if (f.name == target.options.entry && f.body != kNone) f.is_private = false;
  if (!target.options.verified) HEDDLE_TRY_VOID(verify(program));
  stages.done("verify");
  HEDDLE_TRY(const Program flat, inline_calls(program));
  stages.done("inline", flat);
  return core_program(flat, target, stages);
}

Expected<Spmd> distribute(const Program& source, const Target& target) {
  Stages stages(target.options);
  HEDDLE_TRY(const Program core, program_to_deal(source, target, stages));
  return spmd_program(core, target, stages);
}

Expected<Pipeline> distribute_pipeline(const Program& source, const Target& target,
                                       bool with_programs) {
  Stages stages(target.options);
  HEDDLE_TRY(const Program core, program_to_deal(source, target, stages));
  HEDDLE_TRY(const Target told, with_best_pipeline(core, target));
  if (told.pipeline.empty())
    return reason("there are no stages: name the axis of the mesh that they lie along");
  return pipeline_on(core, told, with_programs);
}

Expected<std::int64_t> bytes_of_stages(const Program& core, const Target& target) {
  Target without_code = target;
  without_code.options = {};
  without_code.options.entry = target.options.entry;
  without_code.options.device = target.options.device;
  without_code.options.overlap = target.options.overlap;
  without_code.options.machine_code = false;
  without_code.ranks = true;  // a device is a machine of its own
  Stages stages(without_code.options);
  HEDDLE_TRY(const Pipeline pipeline, pipeline_on(core, without_code, true));
  std::int64_t most = 0;
  for (std::size_t s = 0; s < pipeline.programs.stages.size(); ++s) {
    HEDDLE_TRY(const Executable stage, compile_stage(pipeline, s, without_code, stages));
    most = std::max(most, argument_bytes(stage, s) + stage.peak_bytes());
  }
  return most;
}

Expected<FoundPlan> find_plan(const Program& source, const Target& target) {
  Stages stages(target.options);
  HEDDLE_TRY(const Program core, program_to_deal(source, target, stages));
  return found_for(core, target);
}

Expected<Executable> compile_distributed(const Spmd& spmd, const Target& target) {
  const SpmdFunction* function = spmd.find(target.options.entry);
  if (function == nullptr || function->mesh == kNone) return on_no_mesh(target.options.entry);
  Stages stages(target.options);
  return compile_spmd(spmd, *function, target, stages);
}

}  // namespace heddle
