// Runs of per-device programs on all devices of a mesh.
#include <algorithm>

#include "heddle/interpreter.h"
#include "heddle/op.h"
#include "heddle/spmd.h"
#include "ir/replica_groups.h"

namespace heddle {

Expected<std::vector<Array>> interpret_on_mesh(const Spmd& spmd, const SpmdFunction& function,
                                               const std::vector<Array>& arguments) {
  const Function* local = spmd.program.find_function(function.name);
  if (local == nullptr) return reason("there is no function @{}", function.name);
  if (function.mesh == kNone) return interpret(spmd.program, *local, arguments);
  const MeshDecl& mesh = spmd.program.meshes[function.mesh];
  const std::int64_t devices = mesh.mesh.devices();
  if (arguments.size() != function.arguments.size())
    return reason("{} arguments came in, {} expected", arguments.size(), function.arguments.size());
  for (const Split& split : function.results)
    if (!split.pending.empty()) return reason("a result is unreduced, which has no whole array");
  // A program that runs the function once per device; devices are partitions.
  Program grid = spmd.program;
  Function main;
  main.name = "heddle.on_mesh";
  main.body = grid.add_region();
  std::vector<ValueId> operands;
  std::vector<TypeId> results;
  std::vector<Array> inputs;
  Attr::List row;
  auto position_of = [&](const MeshDecl& on, std::int64_t device) {
    std::int64_t p = 0;
    while (device_at(on, p) != device) ++p;
    return p;
  };
  for (std::int64_t device = 0; device < devices; ++device) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const MeshDecl& on = spmd.program.meshes[function.argument_meshes[i]];
      inputs.push_back(part_of(arguments[i], function.arguments[i], on, position_of(on, device)));
      operands.push_back(grid.add_arg(main.body, grid.intern(inputs.back().type())));
    }
    for (TypeId t : local->results) results.push_back(t);
    row.push_back(Attr{Attr::Symbol{function.name}});
  }
  const OpId run = grid.add_op(main.body, *find_op("interpreter.run_parallel"), operands, results,
                               {{"programs", Attr{Attr::List{Attr{std::move(row)}}}}});
  std::vector<ValueId> returned;
  for (std::size_t i = 0; i < results.size(); ++i) returned.push_back(grid.result(grid.op(run), i));
  main.results = results;
  grid.add_op(main.body, *find_op("func.return"), returned, {});
  grid.functions.push_back(main);
  HEDDLE_TRY(std::vector<Array> all, interpret(grid, main, std::move(inputs)));
  std::vector<Array> whole;
  const std::size_t count = function.results.size();
  for (std::size_t i = 0; i < count; ++i) {
    const MeshDecl& on = spmd.program.meshes[function.result_meshes[i]];
    std::vector<Array> parts;  // by position
    for (std::int64_t p = 0; p < devices; ++p)
      parts.push_back(all[static_cast<std::size_t>(device_at(on, p)) * count + i]);
    whole.push_back(whole_of(parts, function.result_types[i], function.results[i], on));
  }
  return whole;
}

}  // namespace heddle
