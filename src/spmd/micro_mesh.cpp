#include "spmd/micro_mesh.h"

#include <algorithm>

#include "heddle/op.h"
#include "ir/eval/eval.h"
#include "parallel/data_arguments.h"

namespace heddle {

namespace {

Sharding closed(const Type& type, std::optional<std::size_t> cut = {}) {
  Sharding s;
  s.mesh = kMicroAxis;
  s.dims.resize(type.rank());
  if (cut) s.dims[*cut].axes.push_back({kMicroAxis, 1, 0});
  return s;
}

// Layouts of values inside of a program are of the mesh that they name.
Verdict says_nothing_inside(const Program& program) {
  for (OpId id = 0; id < program.op_count(); ++id) {
    const Op& op = program.op(id);
    const bool of_mesh = op.def->parts == Parts::reshard || op.def->parts == Parts::manual ||
                         op.def->parts == Parts::barrier;
    if (of_mesh || op.def->collective != CollectiveKind::none)
      return located(program, op,
                     "a program that says itself what devices of a mesh do cannot be cut into "
                     "micro-batches: leave this op out, and say where arguments lie");
  }
  return yes();
}

}  // namespace

Expected<Program> on_micro_mesh(const Program& given, std::int64_t count) {
  HEDDLE_TRY_VOID(says_nothing_inside(given));
  Program program = given;
  program.meshes.clear();
  program.axes = AxisRegistry::standard();
  for (ValueId v = 0; v < program.value_count(); ++v) program.set_layout(v, kNone);
  for (Function& f : program.functions) f.result_layouts.clear();
  HEDDLE_TRY_VOID(program.add_mesh(kMicroAxis, {{kMicroAxis, count}}));
  std::vector<MeshAxis> axes = program.meshes[0].mesh.axes();
  axes[0].link = {0, 1e15};
  HEDDLE_TRY(program.meshes[0].mesh, Mesh::make(std::move(axes), 1e3, 1e3));
  return program;
}

std::vector<std::size_t> batch_candidates(const Program& program, const Function& function,
                                          const std::vector<Carried>& carried) {
  const std::vector<ValueId>& arguments = program.region(function.body).args;
  std::vector<std::size_t> data, indices, all;
  bool any_state = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Type& type = program.type_of(arguments[i]);
    if (!type.is_tensor() || type.rank() == 0 || is_random_key(type)) continue;
    if (std::ranges::any_of(carried, [&](const Carried& c) { return c.argument == i; })) {
      any_state = true;
      continue;
    }
    all.push_back(i);
    if (!is_float(type.dtype)) indices.push_back(i);
    const bool is_state =
        std::ranges::any_of(function.results, [&](TypeId t) { return program.type(t) == type; });
    any_state = any_state || is_state;
    if (!is_state) data.push_back(i);
  }
  if (!carried.empty()) return all;
  if (any_state && !data.empty()) return data;
  return indices.empty() ? all : indices;
}

std::vector<Seed> micro_seeds(const Program& program, const Function& function,
                              const BatchDim& batch, const std::vector<Carried>& carried) {
  std::vector<Seed> seeds;
  const std::vector<ValueId>& arguments = program.region(function.body).args;
  const auto is_carried = [&](std::size_t i) {
    return std::ranges::any_of(carried, [&](const Carried& c) { return c.argument == i; });
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Type& type = program.type_of(arguments[i]);
    if (!type.is_tensor()) continue;
    if (i == batch.argument)
      seeds.push_back({false, i, closed(type, batch.dim)});
    else if (is_carried(i))
      seeds.push_back({false, i, closed(type)});
  }
  for (const Carried& c : carried)
    if (c.result < function.results.size())
      seeds.push_back({true, c.result, closed(program.type(function.results[c.result]))});
  return seeds;
}

}  // namespace heddle
