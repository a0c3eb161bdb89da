#include "pjrt/compile_for.h"

#include <cstdlib>
#include <set>

#include "heddle/compile.h"
#include "heddle/log.h"
#include "heddle/plan_file.h"
#include "heddle/thread_pool.h"
#include "ir/attr_access.h"
#include "pjrt/error.h"
#include "pjrt/named_result.h"
#include "pjrt/op_sharding.h"
#include "pjrt/quick.h"

namespace heddle::pjrt {

namespace {

// A program that the plan does not fit: a warning the first time, then only where it is asked for.
void tell_misfit(const std::string& plan, const std::string& program, const std::string& reason) {
  static std::atomic<bool> told = false;
  const int level = told.exchange(true) ? kLogSteps : 0;
  log(level, "the plan {} does not fit {}, which runs on one device: {}{}", plan, program, reason,
      level == 0 ? " (HEDDLE_LOG=1 names all such programs)" : "");
}

// The cores of this machine, in two rows where there are many, so that there is something to
// choose.
std::string mesh_of_cores() {
  const int cores = ThreadPool::shared().threads();
  int rows = 1;
  for (int n = 2; n * n <= cores; ++n)
    if (cores % n == 0) rows = n;
  if (cores <= 4 || rows == 1) return fmt::format("core={}", cores);
  return fmt::format("row={},core={}", rows, cores / rows);
}

Target dealt_out(const Target& alone, const PlanFile& plan) {
  Target dealt = alone;
  dealt.mesh = plan.mesh.empty() ? mesh_of_cores() : plan.mesh;
  want(take_plan(dealt, plan));
  return dealt;
}

// A program for one device is dealt out as HEDDLE_PLAN says. JAX makes many small programs beside
// the user's, which the plan is not meant for: what it does not fit runs on one device, and so does
// what is over at once where a plan would be searched for.
Executable compile_one(const Program& program, const Target& alone) {
  const char* file = std::getenv("HEDDLE_PLAN");
  if (file == nullptr || *file == '\0') return want(compile(program, alone));
  const PlanFile plan = want(read_plan_file(file));
  if (plan.search > 0) {
    Executable one = want(compile(program, alone));
    if (is_quick(one)) return one;
  }
  const Target dealt = dealt_out(alone, plan);
  Expected<Executable> executable = compile(program, dealt);
  if (!executable) {
    tell_misfit(file, program.name, executable.reason());
    return want(compile(program, alone));
  }
  log(kLogSteps, "{} is dealt out by the plan {} over {}", program.name, file, dealt.mesh);
  return *std::move(executable);
}

// Whole, unless the text says otherwise: that is how JAX hands such arguments over.
void keep_unsaid_arguments_whole(const Program& program, const Function& main, Target& target) {
  const std::vector<ValueId>& args = program.region(main.body).args;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (program.layout_of(args[i]) != nullptr || !program.type_of(args[i]).is_tensor()) continue;
    Seed whole{.is_result = false, .index = i, .sharding = {}};
    whole.sharding.dims.resize(program.type_of(args[i]).rank());
    target.layouts.seeds.push_back(std::move(whole));
  }
}

// The mesh that the devices stand on; none where the program says nothing of any.
std::string mesh_of(const Program& program, std::int64_t devices) {
  for (const MeshDecl& mesh : program.meshes)
    if (mesh.mesh.devices() == devices) return "@" + mesh.name;
  return program.meshes.empty() ? "" : kOwnMesh;
}

// A result that lies so that JAX has no word for it is asked for otherwise: as near as it can be,
// or whole where the program itself has said how.
Executable compile_sharded(const Program& program, const Function& main, Target target) {
  std::set<std::size_t> said, asked;
  for (std::size_t i = 0; i < main.result_layouts.size(); ++i)
    if (main.result_layouts[i] != kNone) said.insert(i);
  for (;;) {
    Executable executable = want(compile(program, target));
    const Placement& placement = executable.placement();
    if (!placement.on_mesh()) return executable;
    const std::vector<Mesh> named = naming_meshes(program, placement.devices());
    const std::size_t before = asked.size();
    for (std::size_t i = 0; i < placement.results.size(); ++i) {
      const PlacedValue& result = placement.results[i];
      if (said.contains(i) && has_op_sharding(result.split())) continue;
      auto nearest = nearest_named(result.split(), result.mesh(), named);
      if (!nearest || !asked.insert(i).second) continue;
      if (said.contains(i)) nearest->dims.assign(result.type().rank(), {});
      target.layouts.seeds.push_back({.is_result = true, .index = i, .sharding = *nearest});
    }
    if (asked.size() == before) return executable;
  }
}

}  // namespace

std::vector<bool> donated_arguments(const Function& main) {
  std::vector<bool> donated;
  for (const AttrDict& attrs : main.arg_attrs)
    donated.push_back(find_attr(attrs, "tf.aliasing_output") != nullptr ||
                      find_attr(attrs, "jax.buffer_donor") != nullptr);
  return donated;
}

Executable compile_for(const Program& program, const Function& main, const CompileRequest& request,
                       Device& device, const std::stop_token& stop) {
  Target target;
  target.options.device = &device;
  end_on(target, stop);
  target.options.donated = donated_arguments(main);
  if (request.count() == 1) return compile_one(program, target);
  target.mesh = mesh_of(program, request.count());
  if (!target.mesh.empty()) keep_unsaid_arguments_whole(program, main, target);
  return compile_sharded(program, main, std::move(target));
}

}  // namespace heddle::pjrt
