// Random steps of training in random pipelines, with random cuts, compiled and run on threads, give
// what the interpreter gives of the whole.
#include "heddle/compile.h"
#include "heddle/deployment.h"
#include "heddle/interpreter.h"
#include "heddle/stablehlo.h"
#include "heddle/stage_programs.h"
#include "random_step.h"

namespace heddle::property {
namespace {

// Positions that never go back: each op is as far as what it needs, or further.
StageCut random_cut(Choices& choices, const Program& program, const PipelineShape& shape,
                    const MicroBatchOptions& how) {
  StageCut cut;
  cut.shape = shape;
  const MicroBatches micro = cut_into_micro_batches(program, how).value();
  cut.positions.assign(micro.program.op_count(), -1);
  const Function& f = micro.program.functions[0];
  const auto phases = micro_phases(micro.program, f, micro).value();
  for (OpId id : micro.program.region(f.body).ops) {
    if (phases[id] != MicroPhase::each) continue;
    int least = 0;
    for (ValueId v : micro.program.operands(micro.program.op(id)))
      if (const OpId maker = micro.program.value(v).op; maker != kNone)
        least = std::max(least, cut.positions[maker]);
    const bool further = choices.one_in(4);
    cut.positions[id] =
        further ? static_cast<int>(choices.between(least, shape.positions() - 1)) : least;
  }
  return cut;
}

void pipelines_agree(Choices& choices) {
  const RandomStep step = StepMaker(choices).make(4);
  const auto shown = [&](const std::string& what) {
    return what + "\n" + print_stablehlo(step.program);
  };
  PipelineShape shape;
  shape.stages = static_cast<int>(choices.between(2, 3));
  shape.chunks = choices.one_in(3) ? 2 : 1;
  shape.micro_batches = shape.stages == 3 && shape.chunks == 2 ? 0 : choices.pick({2, 4});
  if (shape.micro_batches == 0) {  // interleaved ones come in groups of stages
    shape.stages = 2;
    shape.micro_batches = 4;
  }
  Target target;
  target.mesh = fmt::format("pp={}", shape.stages);
  const bool shared = choices.one_in(3) && shape.stages == 2;
  if (shared) target.mesh = choices.one_in(2) ? "dp=2,pp=2" : "pp=2,dp=2";
  if (shared)
    target.layouts.shards.push_back({fmt::format("arg{}", step.batch.argument), "dp,_", "test"});
  target.pipeline = "pp";
  target.micro_batches = shape.micro_batches;
  target.chunks = shape.chunks;
  target.batch = step.batch;
  if (choices.one_in(2)) target.carried = step.carried;
  MicroBatchOptions how;
  how.count = shape.micro_batches;
  how.batch = step.batch;
  how.carried = target.carried;
  if (choices.one_in(2)) target.cut = random_cut(choices, step.program, shape, how);
  target.options.machine_code = choices.one_in(2);
  const auto executable = compile(step.program, target);
  require(executable.ok(), [&] { return shown(executable.reason()); });
  auto devices = Deployment::open(*executable);
  require(devices.ok(), [&] { return shown(devices.reason()); });
  const auto wanted = interpret(step.program, step.program.functions[0], step.arguments).value();
  for (int run = 0; run < 2; ++run) {
    const auto got = devices->run_whole(step.arguments);
    require(got.ok(), [&] { return shown(got.reason()); });
    const Verdict same = close(wanted, *got);
    require(same.ok(), [&] { return shown(same.reason()); });
  }
}

TEST(Pipelines, AgreeWithTheInterpreter) {
  setenv("HEDDLE_CACHE_DIR", "", 1);
  run_law(pipelines_agree, 0, {.cases = 40, .decisions = 1200});
}

}  // namespace
}  // namespace heddle::property
