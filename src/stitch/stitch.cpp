#include "heddle/stitch.h"

#include "heddle/op.h"
#include "stitch/group.h"

namespace heddle {

namespace {

// Constants are data, and the terminator only names results.
bool is_work(const Op& op) {
  return op.def->name != "stablehlo.constant" && op.def->form != Form::terminator;
}

}  // namespace

Expected<StitchPlan> stitch(const Program& program, RegionId region, const StitchOptions&) {
  StitchPlan plan;
  for (OpId id : program.region(region).ops) {
    const Op& op = program.op(id);
    if (!is_work(op)) continue;
    StitchUnit unit;
    if (is_stitchable(program, op))
      unit.kernels.push_back(make_group(program, region, {id}));
    else
      unit.op = id;
    plan.units.push_back(std::move(unit));
  }
  return plan;
}

}  // namespace heddle
