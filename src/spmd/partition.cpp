#include <algorithm>
#include <chrono>

#include "heddle/interpreter.h"
#include "heddle/op.h"
#include "ir/clone.h"
#include "ir/replica_groups.h"
#include "parallel/prepare.h"
#include "spmd/writers.h"

namespace heddle {

const SpmdFunction* Spmd::find(std::string_view name) const {
  for (const SpmdFunction& f : functions)
    if (f.name == name) return &f;
  return nullptr;
}

namespace {

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

// A mesh that the text names, where its devices are those of the function's; else the latter.
std::uint32_t mesh_like(const Program& program, const ValueLayout* said, std::uint32_t mesh) {
  if (said == nullptr) return mesh;
  return program.meshes[said->mesh].mesh == program.meshes[mesh].mesh ? said->mesh : mesh;
}

// What the devices of one mesh have, on the devices that have the same positions on another.
ValueId reordered(Core& c, ValueId local, const MeshDecl& from, const MeshDecl& to) {
  if (from.device_ids == to.device_ids || !c.out.type_of(local).is_tensor()) return local;
  const std::int64_t devices = c.mesh.mesh.devices();
  Array pairs(Type::tensor(DType::i64, {devices, 2}));
  for (std::int64_t p = 0; p < devices; ++p) {
    const auto at = static_cast<std::size_t>(2 * p);
    pairs.as_mutable<std::int64_t>()[at] = device_at(from, p);
    pairs.as_mutable<std::int64_t>()[at + 1] = device_at(to, p);
  }
  return c.w.permute(local, pairs);
}

void write_arguments(Core& c, const Function& function, RegionId body) {
  const std::vector<ValueId>& args = c.from.region(function.body).args;
  std::vector<ValueId> locals;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Type& type = c.type_of(args[i]);
    const Split& split = c.split(c.decided.arguments[i]);
    const Type local = local_type(type, split);
    c.result.argument_meshes.push_back(mesh_like(c.from, c.from.layout_of(args[i]), c.result.mesh));
    locals.push_back(c.out.add_arg(body, c.out.intern(local)));
    c.result.argument_types.push_back(type);
    c.result.arguments.push_back(split);
    c.result.argument_bytes += local.is_tensor() ? local.bytes() : 0;
  }
  // Arguments whose devices come in another order move to where this mesh has them.
  for (std::size_t i = 0; i < args.size(); ++i)
    c.define(args[i], c.decided.arguments[i],
             reordered(c, locals[i], c.from.meshes[c.result.argument_meshes[i]], c.mesh));
}

void write_results(Core& c, const Function& function, Function& head) {
  for (std::size_t i = 0; i < function.results.size(); ++i) {
    const Type& type = c.from.type(function.results[i]);
    const Split& split = c.split(c.decided.results[i]);
    const Type local = local_type(type, split);
    head.results.push_back(c.out.intern(local));
    const ValueLayout* said =
        i < function.result_layouts.size() ? c.from.layout(function.result_layouts[i]) : nullptr;
    c.result.result_meshes.push_back(mesh_like(c.from, said, c.result.mesh));
    c.result.result_types.push_back(type);
    c.result.results.push_back(split);
    c.result.result_bytes += local.is_tensor() ? local.bytes() : 0;
  }
  const OpId id = c.from.region(function.body).ops.back();
  const Op& end = c.from.op(id);
  c.current = kNone;
  c.carry_out(id);
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < function.results.size(); ++i)
    values.push_back(reordered(c, c.get(c.from.operands(end)[i], c.decided.results[i]), c.mesh,
                               c.from.meshes[c.result.result_meshes[i]]));
  c.out.add_op(c.w.at, *find_op("func.return"), values, {}, {}, {}, c.location(end.loc));
}

// Adds the function to the program.
Expected<SpmdFunction> write_function(const Function& function, FunctionPlan& plan, Program& to) {
  Core c(*plan.decisions, to);
  c.result.name = function.name;
  c.result.mesh = plan.mesh;
  c.result.conflicts = plan.conflicts;
  Function head = function;
  head.result_layouts.clear();
  head.results.clear();
  head.inputs.clear();
  head.loc = c.location(function.loc);
  head.body = c.out.add_region();
  c.enter(head.body, false);
  write_arguments(c, function, head.body);
  c.w.write_position();
  HEDDLE_TRY_VOID(write_ops(c, function.body));
  write_results(c, function, head);
  c.out.functions.push_back(std::move(head));
  return std::move(c.result);
}

}  // namespace

Expected<Spmd> partition(std::shared_ptr<Parallel> decided) {
  const auto begun = std::chrono::steady_clock::now();
  const Program& program = decided->program;
  Spmd spmd;
  spmd.program.name = program.name;
  spmd.program.file = program.file;
  spmd.program.attrs = program.attrs;
  spmd.program.meshes = program.meshes;
  spmd.program.axes = program.axes;
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.functions[i];
    if (decided->functions[i].mesh == kNone) {
      copy_function(program, spmd.program, function);
      spmd.functions.push_back(on_one_device(program, function));
      continue;
    }
    HEDDLE_TRY(SpmdFunction info, write_function(function, decided->functions[i], spmd.program));
    spmd.functions.push_back(std::move(info));
  }
  HEDDLE_TRY(spmd.program, with_pads_apart(std::move(spmd.program)));
  spmd.decided = std::move(decided);
  spmd.partition_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return spmd;
}

Expected<Spmd> partition(const Program& program, const SpmdOptions& options) {
  HEDDLE_TRY(std::shared_ptr<Parallel> decided, parallelize(program, options));
  HEDDLE_TRY(Spmd spmd, partition(std::move(decided)));
  for (const SpmdFunction& f : spmd.functions)
    if (f.argument_bytes + f.result_bytes > options.memory_limit)
      return reason(
          "@{} needs {} bytes on every device for its arguments and {} for its results; "
          "there are {}: split them over more devices",
          f.name, f.argument_bytes, f.result_bytes, options.memory_limit);
  return spmd;
}

}  // namespace heddle
