// sdy.manual_computation: its body runs once per device of the mesh, on the parts that each has.
#include "ir/eval/control.h"
#include "ir/eval/process_group.h"
#include "ir/eval/run_parallel.h"
#include "ir/manual_plan.h"

namespace heddle {

namespace {

using Arrays = std::vector<Array>;

Expected<Arrays> parts_for(EvalContext& ctx, const ManualPlan& plan, std::int64_t position) {
  Arrays parts;
  for (std::size_t i = 0; i < ctx.operands.size(); ++i) {
    const Array& whole = ctx.operands[i];
    HEDDLE_TRY(Type type, local_type(plan, plan.in[i], whole.type()));
    if (!type.is_tensor())
      parts.push_back(whole);
    else if (holds_zeros(plan, plan.in[i], position))
      parts.push_back(Array(type));
    else
      parts.push_back(
          pick_elements(whole, type, local_place(plan, plan.in[i], whole.type(), position)));
  }
  return parts;
}

// Parts by the positions of their devices. Where several hold the same part, the first one counts.
Expected<Arrays> assembled(EvalContext& ctx, const ManualPlan& plan,
                           const std::vector<std::int64_t>& positions,
                           const std::vector<Arrays>& parts) {
  Arrays results;
  for (std::size_t i = 0; i < plan.out.size(); ++i) {
    const Type& type = ctx.result_type(i);
    if (has_manual_unreduced(plan, plan.out[i]))
      return reason("result {} is unreduced over a manual axis, which the interpreter cannot run",
                    i);
    Array whole(type);
    for (std::size_t p = positions.size(); p-- > 0 && type.is_tensor();)
      put_elements(whole, parts[p][i], local_place(plan, plan.out[i], type, positions[p]));
    results.push_back(std::move(whole));
  }
  return results;
}

Results run_outermost(EvalContext& ctx, const ManualPlan& plan) {
  if (plan.devices > static_cast<std::int64_t>(kMostProcesses))
    return reason("{} devices are more than the interpreter runs, which is {}", plan.devices,
                  kMostProcesses);
  ProcessGroup group(1, plan.devices);
  const auto n = static_cast<std::size_t>(plan.devices);
  std::vector<std::int64_t> positions(n), position_of(n);
  for (std::size_t p = 0; p < n; ++p) {
    positions[p] = static_cast<std::int64_t>(p);
    position_of[static_cast<std::size_t>(device_at(*plan.mesh, positions[p]))] = positions[p];
  }
  std::vector<Arrays> parts(n);
  HEDDLE_TRY_VOID(group.run([&](std::int64_t id) -> Verdict {
    const std::int64_t position = position_of[static_cast<std::size_t>(id)];
    const Process process{&group, 0, id, plan.mesh, plan.axes};
    HEDDLE_TRY(Arrays mine, parts_for(ctx, plan, position));
    HEDDLE_TRY(parts[static_cast<std::size_t>(position)],
               ctx.machine->run_region_as(process, ctx.region(0), std::move(mine)));
    return yes();
  }));
  return assembled(ctx, plan, positions, parts);
}

// Inside another one: the devices exist already. Those with the same place along the outer manual
// axes make up one value together.
Results run_inner(EvalContext& ctx, const ManualPlan& plan) {
  const Process& self = ctx.process;
  if (!self.mesh || !(self.mesh->mesh == plan.mesh->mesh))
    return reason("it runs inside other processes, which are not the devices of mesh @{}",
                  plan.mesh->name);
  std::vector<AxisSpan> outer;
  Process process = self;
  for (const std::string& axis : self.manual_axes) {
    HEDDLE_TRY(AxisSpan span, axis_span(*plan.mesh, {axis}));
    outer.push_back(span);
  }
  for (const std::string& axis : plan.axes) process.manual_axes.push_back(axis);
  std::int64_t mine = 0;
  while (device_at(*plan.mesh, mine) != self.partition) ++mine;
  std::vector<std::int64_t> positions, members;
  for (std::int64_t p = 0; p < plan.devices; ++p) {
    bool together = true;
    for (const AxisSpan& span : outer) together &= span.coordinate(p) == span.coordinate(mine);
    if (!together) continue;
    positions.push_back(p);
    members.push_back(device_at(*plan.mesh, p));
  }
  HEDDLE_TRY(Arrays parts, parts_for(ctx, plan, mine));
  HEDDLE_TRY(Arrays done, ctx.machine->run_region_as(process, ctx.region(0), std::move(parts)));
  const std::string what = fmt::format("{} [manual_computation]", ctx.program.where(ctx.op.loc));
  HEDDLE_TRY(auto all, self.group->meet(self.partition, members, what, what, std::move(done)));
  return assembled(ctx, plan, positions, all);
}

}  // namespace

Results eval_manual_computation(EvalContext& ctx) {
  HEDDLE_TRY(ManualPlan plan, manual_plan(ctx.program, ctx.op));
  if (!plan.mesh) return ctx.run_region(ctx.region(0), {ctx.operands.begin(), ctx.operands.end()});
  return ctx.process.group ? run_inner(ctx, plan) : run_outermost(ctx, plan);
}

}  // namespace heddle
