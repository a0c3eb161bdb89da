#include "compile/pipeline.h"

#include <algorithm>

#include "comm/group.h"
#include "compile/distribute.h"
#include "compile/micro_program.h"
#include "compile/pipeline_settings.h"
#include "heddle/hash.h"
#include "heddle/stablehlo.h"
#include "spmd/micro_ops.h"
#include "spmd/pipeline_plan.h"
#include "spmd/turns.h"

namespace heddle {

static_assert(comm::kDepth >= kMessageRoom);

namespace {

// The mesh with the axis of stages and without it.
struct StageMesh {
  std::string rest;  // that each stage has: "dp=2"
  int stages = 1;
  std::vector<std::vector<int>> devices;  // of each stage, as `rest` numbers them
  // One stage of the target's cluster: its axes with the links that they have among all devices.
  std::optional<Cluster> cluster;
  Link between;  // stages
};

Expected<StageMesh> stage_mesh(const Target& target) {
  AxisRegistry scratch = AxisRegistry::standard();
  if (target.mesh.empty() || target.mesh[0] == '@')
    return reason("a pipeline needs a mesh whose axes are said: give one, as in pp=2,dp=2");
  HEDDLE_TRY(Mesh mesh, Mesh::parse(target.mesh, scratch));
  StageMesh made;
  if (target.cluster) {
    HEDDLE_TRY(mesh, target.cluster->with_figures(mesh));
    made.cluster = target.cluster;
    made.cluster->levels.clear();
    // What a plan would better take is known stage by stage, and the cut has seen to it.
    made.cluster->memory = INT64_MAX;
  }
  std::int64_t inner = 1;  // devices of the axes behind that of the stages
  bool found = false;
  for (const MeshAxis& axis : mesh.axes()) {
    if (axis.name == target.pipeline) {
      made.stages = static_cast<int>(axis.size);
      made.between = axis.link;
      found = true;
      inner = 1;
      continue;
    }
    if (made.cluster) made.cluster->levels.push_back({axis.name, axis.size, axis.link});
    made.rest += fmt::format("{}{}={}", made.rest.empty() ? "" : ",", axis.name, axis.size);
    inner *= axis.size;
  }
  if (!found) return reason("pipeline {}: mesh {} has no such axis", target.pipeline, mesh.str());
  if (made.rest.empty()) made.rest = "one=1";
  if (made.cluster && made.cluster->levels.empty())
    made.cluster->levels.push_back({"one", 1, {0, mesh.local_bandwidth()}});
  const std::int64_t each = mesh.devices() / made.stages;
  made.devices.resize(static_cast<std::size_t>(made.stages));
  for (std::int64_t number = 0; number < each; ++number)
    for (std::int64_t s = 0; s < made.stages; ++s)
      made.devices[static_cast<std::size_t>(s)].push_back(
          static_cast<int>((number / inner * made.stages + s) * inner + number % inner));
  return made;
}

Expected<PipelineShape> shape_of(const MicroBatches& micro, const Target& target, int stages) {
  PipelineShape shape;
  shape.stages = stages;
  shape.micro_batches = static_cast<int>(micro.count);
  shape.chunks = target.chunks;
  shape.backward = target.cut ? target.cut->shape.backward : has_way_back(micro);
  HEDDLE_TRY_VOID(pipeline_order(shape));
  if (target.cut && !(target.cut->shape == shape))
    return reason("the cut into stages was made for another pipeline than that on mesh {}",
                  target.mesh);
  const std::size_t ops = micro.program.op_count();
  if (target.cut && target.cut->positions.size() != ops)
    return reason("the cut into stages is of {} ops, and a micro-batch of this program has {}",
                  target.cut->positions.size(), ops);
  return shape;
}

// Where the ops of what was decided are, as they say themselves.
Expected<StageCut> cut_in(const Program& program, const Function& function,
                          const std::vector<MicroPhase>& phases, const PipelineShape& shape) {
  StageCut cut{shape, {}, {}};
  std::vector<int> said(program.op_count(), -1);
  for (OpId id : program.region(function.body).ops)
    said[id] = program.location(program.op(id).loc).position;
  HEDDLE_TRY(cut.positions, settled_positions(program, function, phases, said));
  return cut;
}

// Communication inside of a stage comes with every micro-batch, but for that of what comes after.
void count_communication(Pipeline& pipeline, const std::vector<MicroPhase>& phases) {
  for (Communication& c : pipeline.whole.communications)
    if (c.needed_by != kNone && phases[c.needed_by] == MicroPhase::each) ++c.depth;
}

// Who does what when, by what was decided.
Verdict predict(Pipeline& pipeline, const MicroBatches& micro, const Target& target,
                const Link& between) {
  const Program& program = pipeline.spmd.logical();
  const Function& function = *program.find_function(micro.function);
  const auto place = static_cast<std::size_t>(&function - program.functions.data());
  const FunctionPlan& plan = pipeline.spmd.decided->functions[place];
  HEDDLE_TRY(const auto phases, micro_phases(program, function, micro));
  HEDDLE_TRY(pipeline.cut, cut_in(program, function, phases, pipeline.programs.shape));
  count_communication(pipeline, phases);
  MicroCosts costs{decided_seconds(program, function, plan, phases, pipeline.cut.shape),
                   [&](ValueId v) {
                     const int split = plan.decisions->lies[v];
                     return split < 0 ? nullptr : &plan.decisions->split(split);
                   },
                   target.carried};
  HEDDLE_TRY(const auto made, micro_program_of(program, function, micro, std::move(costs)));
  HEDDLE_TRY(pipeline.times, pipeline::times_of(made, pipeline.cut, between));
  return yes();
}

}  // namespace

Expected<Pipeline> pipeline_on(const Program& core, const Target& target, bool with_programs) {
  HEDDLE_TRY(const StageMesh mesh, stage_mesh(target));
  HEDDLE_TRY_VOID(leaves_axis_to_stages(target, target.pipeline));
  if (target.micro_batches < 2)
    return reason("stages of a pipeline work on micro-batches: say how many, 2 or more");
  HEDDLE_TRY(auto whole, micro_batches_of(core, target));
  HEDDLE_TRY_VOID(cut_turns(*whole, std::int64_t{mesh.stages} * std::max(1, target.chunks)));
  if (const int effort = target.layouts.recompute.value_or(0); effort > 0)
    HEDDLE_TRY_VOID(compute_again(*whole, effort));
  HEDDLE_TRY(const PipelineShape shape, shape_of(*whole, target, mesh.stages));
  HEDDLE_TRY(const StageCut cut, target.cut ? *target.cut : balanced_cut(*whole, shape));
  HEDDLE_TRY(MicroBatches micro, in_positions(*whole, cut));
  Target of_stage = target;
  of_stage.mesh = mesh.rest;
  of_stage.pipeline.clear();
  of_stage.cluster = mesh.cluster;
  of_stage.layouts.device_memory = cut.memory;
  HEDDLE_TRY(of_stage, with_seeds_of(core, of_stage));
  of_stage.layouts.recompute = 0;  // the function has it
  HEDDLE_TRY(const std::string name, enter_mesh(micro.program, of_stage));
  HEDDLE_TRY(Spmd spmd, distribute_on(micro.program, name, of_stage, &micro, mesh.stages));
  HEDDLE_TRY(StagePrograms programs,
             stage_programs(spmd.program, micro, shape, target.carried, with_programs));
  SpmdFunction function = *spmd.find(target.options.entry);
  HEDDLE_TRY_VOID(with_whole_batch(function, micro));
  Placement placement = placement_of(spmd, function, mesh.devices);
  Pipeline made{std::move(spmd),
                std::move(function),
                {},
                target.mesh,
                target.pipeline,
                std::move(programs),
                std::move(placement),
                {},
                target.layouts.recompute.value_or(0)};
  HEDDLE_TRY_VOID(predict(made, micro, target, mesh.between));
  for (std::size_t i = 0; i < made.placement.arguments.size(); ++i)
    made.placement.arguments[i].lie_on(made.programs.arguments[i].stages,
                                       made.programs.arguments[i].rows);
  for (std::size_t i = 0; i < made.placement.results.size(); ++i)
    made.placement.results[i].lie_on(made.programs.results[i].stages,
                                     made.programs.results[i].rows);
  for (const StageChannel& c : made.programs.channels)
    made.placement.channels.push_back({c.channel, c.from, c.to});
  for (const StageProgram& stage : made.programs.stages)
    made.placement.fingerprint =
        hash_combine(made.placement.fingerprint, print_stablehlo(stage.program, TextForm::generic));
  return made;
}

}  // namespace heddle
