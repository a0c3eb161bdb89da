#include <algorithm>
#include <chrono>

#include "heddle/interpreter.h"
#include "heddle/op.h"
#include "heddle/verify.h"
#include "ir/clone.h"
#include "ir/replica_groups.h"
#include "spmd/partitioner.h"
#include "spmd/prepare.h"

namespace heddle {

const SpmdFunction* Spmd::find(std::string_view name) const {
  for (const SpmdFunction& f : functions)
    if (f.name == name) return &f;
  return nullptr;
}

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
                                 const SpmdOptions& options) {
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

void copy_function(const Program& from, Program& to, const Function& function) {
  Function head = function;
  head.result_layouts.clear();
  for (std::vector<TypeId>* types : {&head.results, &head.inputs})
    for (TypeId& t : *types) t = to.intern(from.type(t));
  head.loc = 0;
  if (function.body != kNone) {
    ValueMap values;
    head.body = clone_region(to, from, function.body, values);
  }
  to.functions.push_back(std::move(head));
}

SpmdFunction on_one_device(const Program& program, const Function& function) {
  SpmdFunction info;
  info.name = function.name;
  if (function.body == kNone) return info;
  for (ValueId v : program.region(function.body).args) {
    info.argument_types.push_back(program.type_of(v));
    info.arguments.push_back(Split::whole(program.type_of(v)));
  }
  for (TypeId t : function.results) {
    info.result_types.push_back(program.type(t));
    info.results.push_back(Split::whole(program.type(t)));
  }
  return info;
}

}  // namespace

Expected<Spmd> partition(const Program& given, const SpmdOptions& options) {
  for (const MeshDecl& mesh : given.meshes)
    if (auto size = mesh_size(mesh); !mesh.device_ids.empty() && !size) return size.why();
  const bool any_said = !options.seeds.empty() || !options.carried.empty();
  if (any_said && !options.function.empty() && given.find_function(options.function) == nullptr)
    return reason("there is no function @{}, of which layouts are said", options.function);
  HEDDLE_TRY(Program program, with_known_places(given));
  Spmd spmd;
  spmd.program.name = program.name;
  spmd.program.file = program.file;
  spmd.program.attrs = program.attrs;
  spmd.program.meshes = program.meshes;
  spmd.program.axes = program.axes;
  RuleCache rules(program);
  for (const Function& function : program.functions) {
    std::uint32_t mesh = kNone;
    if (function.body != kNone) {
      HEDDLE_TRY(mesh, mesh_for(program, function, options));
    }
    if (mesh == kNone) {
      copy_function(program, spmd.program, function);
      spmd.functions.push_back(on_one_device(program, function));
      continue;
    }
    PropagateOptions how;
    how.mesh = mesh;
    how.closed_boundary = options.closed_boundary;
    const bool is_meant = function.name == options.function;
    if (is_meant || (options.function.empty() && !function.is_private)) how.seeds = options.seeds;
    if (is_meant) how.carried = options.carried;
    const auto begun = Clock::now();
    HEDDLE_TRY(Propagation layouts, propagate(program, function, rules, how));
    spmd.propagate_seconds += seconds_since(begun);
    const auto propagated = Clock::now();
    Partitioner one(program, spmd.program, function, rules, program.meshes[mesh], layouts,
                    options.memory_limit);
    HEDDLE_TRY(SpmdFunction info, one.run());
    info.mesh = mesh;
    info.conflicts = std::move(layouts.conflicts);
    spmd.functions.push_back(std::move(info));
    spmd.partition_seconds += seconds_since(propagated);
  }
  for (const SpmdFunction& f : spmd.functions)
    if (f.argument_bytes + f.result_bytes > options.memory_limit)
      return reason(
          "@{} needs {} bytes on every device for its arguments and {} for its results; "
          "there are {}: split them over more devices",
          f.name, f.argument_bytes, f.result_bytes, options.memory_limit);
  spmd.logical = std::move(program);
  return spmd;
}

}  // namespace heddle
