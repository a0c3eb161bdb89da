#include "compile/micro_program.h"

#include "compile/distribute.h"
#include "heddle/op.h"
#include "ir/trips.h"
#include "parallel/search/traits.h"

namespace heddle {

Expected<pipeline::MicroProgram> micro_program_of(const Program& program, const Function& function,
                                                  const MicroBatches& micro, MicroCosts costs) {
  using When = pipeline::MicroProgram::When;
  HEDDLE_TRY(const std::vector<MicroPhase> phases, micro_phases(program, function, micro));
  pipeline::MicroProgram made{program, function, {}, {}, {}, {}, {}, std::move(costs.carried)};
  for (MicroPhase phase : phases)
    made.when.push_back(phase == MicroPhase::each    ? When::each
                        : phase == MicroPhase::after ? When::after
                                                     : When::before);
  made.when.resize(program.op_count(), When::before);
  for (std::size_t a = 0; a < program.region(function.body).args.size(); ++a)
    made.data.push_back(a == micro.number() ||
                        (a < micro.arguments.size() && micro.arguments[a] >= 0));
  made.seconds = std::move(costs.seconds);
  RuleCache rules(program);
  const search::Traits traits = search::traits_of(program, function, rules);
  for (ValueId v = 0; v < program.value_count(); ++v) {
    const Type& type = program.type_of(v);
    const OpId maker = program.value(v).op;
    const Split* const split = costs.split(v);
    made.bytes.push_back(!type.is_tensor()  ? 0
                         : split == nullptr ? type.bytes()
                                            : local_type(type, *split).bytes());
    made.inside.push_back(traits.values[v].stitched ||
                          (maker != kNone && program.op(maker).def->view != ViewKind::none));
  }
  return made;
}

namespace {

double seconds_of(const Program& program, const Decisions& decisions, OpId id) {
  const Decision& decision = decisions.ops[id];
  double seconds = decision.bring_seconds();
  for (const Fetch& fetch : decision.fetches)
    if (fetch.again) seconds += fetch.again->price.compute;
  if (decision.choice) seconds += decision.choice->price.own();
  const Op& op = program.op(id);
  if (op.def->cls != OpClass::control || op.region_count == 0) return seconds;
  const bool loop = op.def->parts == Parts::loop;
  const auto trips = static_cast<double>(loop ? trips_of(program, op).value_or(1) : 1);
  for (RegionId region : program.regions(op))
    for (OpId inner : program.region(region).ops)
      seconds += trips * seconds_of(program, decisions, inner);
  return seconds;
}

}  // namespace

std::vector<double> decided_seconds(const Program& program, const Function& function,
                                    const FunctionPlan& plan, const std::vector<MicroPhase>& phases,
                                    const PipelineShape& shape) {
  std::vector<double> seconds(program.op_count(), 0);
  const double once = weight_of_once(shape.micro_batches, shape.stages);
  for (OpId id : program.region(function.body).ops) {
    if (!plan.found) {
      seconds[id] = seconds_of(program, *plan.decisions, id);
      continue;
    }
    const bool each = phases[id] == MicroPhase::each;
    seconds[id] = plan.found->op_seconds[id] / (each ? shape.micro_batches : once);
  }
  return seconds;
}

}  // namespace heddle
