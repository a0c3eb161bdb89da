#include "compile.h"
#include "heddle/op.h"
#include "runtime/lifetimes.h"

namespace heddle {

using namespace runtime;

namespace {

bool runs_regions(const Op& op) {
  return op.def->control == Control::loop || op.def->control == Control::branch ||
         op.def->control == Control::choice;
}

// A kernel that would only copy is none.
bool is_lone_view(const Program& program, const StitchUnit& unit) {
  return unit.kernels.size() == 1 && unit.kernels[0].ops.size() == 1 &&
         is_view(program, program.op(unit.kernels[0].ops[0]));
}

}  // namespace

Verdict stitch_regions(CompiledProgram& compiled, RegionId region, const StitchOptions& options) {
  const Program& program = compiled.program;
  HEDDLE_TRY(StitchPlan plan, stitch(program, region, options));
  std::vector<CompiledUnit> units;
  for (StitchUnit& unit : plan.units) {
    CompiledUnit made;
    made.op = is_lone_view(program, unit) ? unit.kernels[0].ops[0] : unit.op;
    made.views = std::move(unit.views);
    if (made.op == kNone)
      for (StitchGroup& group : unit.kernels) made.kernels.push_back({{}, std::move(group), {}});
    units.push_back(std::move(made));
  }
  for (const CompiledUnit& unit : units)
    if (unit.op != kNone && runs_regions(program.op(unit.op)))
      for (RegionId inner : program.regions(program.op(unit.op)))
        HEDDLE_TRY_VOID(stitch_regions(compiled, inner, options));
  compiled.regions[region] = std::move(units);
  return yes();
}

}  // namespace heddle
