// From a program to decisions about all of it: rewrites, propagation, then each op.
#include <chrono>

#include "heddle/decide.h"
#include "heddle/op.h"
#include "ir/replica_groups.h"
#include "parallel/prepare.h"

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The mesh that a function's shardings name first.
std::uint32_t mesh_in(const Program& program, RegionId region) {
  auto of = [&](ValueId v) {
    const ValueLayout* l = program.layout_of(v);
    return l != nullptr && program.meshes[l->mesh].mesh.devices() > 1 ? l->mesh : kNone;
  };
  for (ValueId v : program.region(region).args)
    if (const std::uint32_t m = of(v); m != kNone) return m;
  for (OpId id : program.region(region).ops) {
    const Op& op = program.op(id);
    for (LayoutId l : program.operand_layouts(op))
      if (const ValueLayout* layout = program.layout(l);
          layout != nullptr && program.meshes[layout->mesh].mesh.devices() > 1)
        return layout->mesh;
    for (std::size_t i = 0; i < op.result_count; ++i)
      if (const std::uint32_t m = of(program.result(op, i)); m != kNone) return m;
    for (RegionId inner : program.regions(op))
      if (const std::uint32_t m = mesh_in(program, inner); m != kNone) return m;
  }
  return kNone;
}

Expected<std::uint32_t> mesh_for(const Program& program, const Function& function,
                                 const ParallelOptions& options) {
  if (!options.mesh.empty()) {
    for (std::uint32_t m = 0; m < program.meshes.size(); ++m)
      if (program.meshes[m].name == options.mesh) return m;
    return reason("the program has no mesh @{}", options.mesh);
  }
  for (LayoutId l : function.result_layouts)
    if (const ValueLayout* layout = program.layout(l);
        layout != nullptr && program.meshes[layout->mesh].mesh.devices() > 1)
      return layout->mesh;
  return mesh_in(program, function.body);
}

// Layouts ride on values: as they lie once they are there, on the mesh that the text names.
void lay_out(Program& program, const FunctionPlan& plan) {
  std::map<std::pair<int, std::uint32_t>, LayoutId> known;
  const Decisions& decisions = *plan.decisions;
  for (ValueId v = 0; v < decisions.lies.size(); ++v) {
    const int split = decisions.lies[v];
    if (split < 0 || !program.type_of(v).is_tensor()) continue;
    const ValueLayout* said = program.layout_of(v);
    const std::uint32_t mesh = said == nullptr ? plan.mesh : said->mesh;
    auto [it, is_new] = known.try_emplace({split, mesh}, kNone);
    if (is_new)
      if (auto layout =
              layout_of(decisions.split(split), decisions.on.mesh.mesh, program.axes.mem()))
        it->second = program.intern(ValueLayout{mesh, *std::move(layout), {}});
    if (it->second != kNone) program.set_layout(v, it->second);
  }
}

}  // namespace

Expected<std::shared_ptr<Parallel>> parallelize(const Program& given,
                                                const ParallelOptions& options) {
  for (const MeshDecl& mesh : given.meshes)
    if (auto size = mesh_size(mesh); !size) return size.why();
  const bool any_said = !options.seeds.empty() || !options.carried.empty();
  if (any_said && !options.function.empty() && given.find_function(options.function) == nullptr)
    return reason("there is no function @{}, of which layouts are said", options.function);
  HEDDLE_TRY(Program prepared, with_known_places(given));
  HEDDLE_TRY(prepared, with_even_parts(prepared));
  HEDDLE_TRY(prepared, with_shared_moves(prepared));
  auto out = std::make_shared<Parallel>(std::move(prepared));
  const Program& program = out->program;
  for (const Function& function : program.functions) {
    FunctionPlan& plan = out->functions.emplace_back();
    if (function.body == kNone) continue;
    HEDDLE_TRY(plan.mesh, mesh_for(program, function, options));
    if (plan.mesh == kNone) continue;
    PropagateOptions how;
    how.mesh = plan.mesh;
    how.closed_boundary = options.closed_boundary;
    const bool is_meant = function.name == options.function;
    if (is_meant || (options.function.empty() && !function.is_private)) how.seeds = options.seeds;
    if (is_meant) how.carried = options.carried;
    const auto begun = Clock::now();
    HEDDLE_TRY(Propagation layouts, propagate(program, function, out->rules, how));
    out->propagate_seconds += seconds_since(begun);
    const auto propagated = Clock::now();
    HEDDLE_TRY(plan.decisions, decide(program, function, out->rules, program.meshes[plan.mesh],
                                      layouts, options.memory_limit));
    plan.conflicts = std::move(layouts.conflicts);
    out->decide_seconds += seconds_since(propagated);
  }
  for (const FunctionPlan& plan : out->functions)
    if (plan.decisions) lay_out(out->program, plan);
  return out;
}

}  // namespace heddle
