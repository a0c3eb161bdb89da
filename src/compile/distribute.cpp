#include "compile/distribute.h"

#include <algorithm>
#include <cmath>

#include "compile/best_mesh.h"
#include "heddle/fix.h"
#include "heddle/pipeline_search.h"
#include "heddle/signature.h"
#include "parallel/one_mesh.h"
#include "parallel/search/move_costs.h"

namespace heddle {

namespace {

AxisSizes sizes_of(const Mesh& mesh) {
  AxisSizes sizes;
  for (const MeshAxis& axis : mesh.axes()) sizes.emplace_back(axis.name, axis.size);
  return sizes;
}

// The program's mesh of these axes, or a new one under a name of its own.
Expected<std::string> enter_axes(Program& program, const std::string& text,
                                 const std::optional<Cluster>& cluster) {
  AxisRegistry scratch = AxisRegistry::standard();
  HEDDLE_TRY(Mesh mesh, Mesh::parse(text, scratch));
  if (cluster) {
    HEDDLE_TRY(mesh, cluster->with_figures(mesh));
  }
  const AxisSizes sizes = sizes_of(mesh);
  for (const MeshDecl& known : program.meshes)
    if (!cluster && sizes_of(known.mesh) == sizes) return known.name;
  std::string name = "mesh";
  while (program.find_mesh(name) != nullptr) name += "_";
  HEDDLE_TRY_VOID(program.add_mesh(name, sizes));
  std::vector<MeshAxis> axes = program.meshes.back().mesh.axes();
  for (std::size_t a = 0; a < axes.size(); ++a) axes[a].link = mesh.axes()[a].link;
  HEDDLE_TRY(program.meshes.back().mesh, Mesh::make(std::move(axes), mesh.device(), mesh.timed()));
  return name;
}

Expected<Function> function_to_shard(const Program& program, const std::string& name) {
  if (name.empty())
    return reason("shard: there is no main, and several functions: choose one as the entry");
  const Function* found = program.find_function(name);
  if (found == nullptr || found->body == kNone)
    return reason("shard: there is no function @{} with a body", name);
  return *found;
}

bool same_place(const Seed& a, const Seed& b) {
  return a.is_result == b.is_result && a.index == b.index;
}

// What is said of the batch as a whole; words about one of its arguments count more.
Expected<std::vector<Seed>> batch_seeds(Program& program, const std::string& mesh,
                                        const Target& target) {
  const std::string& axes = target.layouts.batch;
  HEDDLE_TRY(const Function meant, function_to_shard(program, target.options.entry));
  HEDDLE_TRY(const auto entries, batch_entries(program, meant, target.carried, axes));
  if (const MeshDecl* found = program.find_mesh(mesh))
    HEDDLE_TRY_VOID(check_batch(program, meant, found->mesh, entries, axes));
  return seeds_of(program, meant, mesh, entries);
}

}  // namespace

Expected<std::vector<Seed>> seeds_on(Program& program, const std::string& mesh,
                                     const Target& target) {
  std::vector<Seed> seeds;
  if (!target.layouts.shards.empty()) {
    HEDDLE_TRY(const Function meant, function_to_shard(program, target.options.entry));
    HEDDLE_TRY(seeds, seeds_of(program, meant, mesh, target.layouts.shards));
  }
  if (!target.layouts.batch.empty()) {
    HEDDLE_TRY(const std::vector<Seed> batch, batch_seeds(program, mesh, target));
    for (const Seed& seed : batch)
      if (std::ranges::none_of(seeds, [&](const Seed& s) { return same_place(s, seed); }))
        seeds.push_back(seed);
  }
  HEDDLE_TRY_VOID(check_carried(target.layouts.shards, seeds, target.carried));
  for (const Seed& given : target.layouts.seeds) {
    std::erase_if(seeds, [&](const Seed& s) { return same_place(s, given); });
    seeds.push_back(given);
    if (seeds.back().sharding.mesh.empty()) seeds.back().sharding.mesh = mesh;
  }
  return seeds;
}

Expected<Target> with_seeds_of(const Program& whole, const Target& target) {
  Program program = whole;
  Target by_number = target, named = target;
  const auto is_inside = [](const ShardEntry& entry) { return entry.name.starts_with("value:"); };
  std::erase_if(named.layouts.shards, is_inside);
  std::erase_if(by_number.layouts.shards, [&](const ShardEntry& e) { return !is_inside(e); });
  by_number.layouts.batch.clear();
  if (named.layouts.shards.empty() && named.layouts.batch.empty()) return target;
  HEDDLE_TRY(std::string mesh, enter_mesh(program, target));
  if (mesh.empty() && !program.meshes.empty()) mesh = program.meshes[0].name;
  HEDDLE_TRY(by_number.layouts.seeds, seeds_on(program, mesh, named));
  return by_number;
}

std::int64_t memory_wish(const Target& target) {
  // Some room for what no plan counts: code, buffers of libraries, gaps.
  constexpr double kShare = 0.9;
  if (!target.cluster) return INT64_MAX;
  return static_cast<std::int64_t>(kShare * static_cast<double>(target.cluster->memory));
}

SearchOptions search_options(const Target& target) {
  SearchOptions how;
  how.memory_limit = target.layouts.device_memory;
  how.memory_wish = memory_wish(target);
  how.recompute = target.layouts.recompute;
  how.details = target.layouts.search_details;
  how.to_beat = target.layouts.search_to_beat;
  how.solve.stop = target.layouts.search_stop;
  if (CompileProgress* const progress = target.options.progress)
    how.solve.on_progress = [progress](const SolveProgress& now) {
      progress->searched_cost =
          now.cost == CostNetwork::kForbidden ? -1 : search::seconds_of_cost(now.cost);
      progress->searched_bound = search::seconds_of_cost(now.bound);
    };
  how.solve.level = target.layouts.search;
  how.solve.seconds = target.layouts.search_seconds;
  return how;
}

ScheduleOptions schedule_options(const Target& target) {
  ScheduleOptions options = target.layouts.search > 0
                                ? ScheduleOptions::within(target.layouts.device_memory)
                                : ScheduleOptions{};
  options.overlap = target.options.overlap;
  return options;
}

Verdict take_plan(Target& target, const PlanFile& plan) {
  target.layouts.shards = plan.shards;
  target.layouts.search = plan.search;
  target.layouts.device_memory = plan.memory.value_or(INT64_MAX);
  target.layouts.recompute = plan.recompute;
  return set_pipeline(plan, target);
}

void end_on(Target& target, const std::stop_token& stop) {
  target.options.stop = [stop] { return stop.stop_requested(); };
  target.layouts.search_stop = stop;
}

Expected<Target> mesh_target(const std::string& mesh, const std::vector<std::string>& shards) {
  Target target{.mesh = mesh};
  for (const std::string& text : shards) {
    HEDDLE_TRY(ShardEntry entry, shard_entry(text));
    target.layouts.shards.push_back(std::move(entry));
  }
  return target;
}

Expected<std::string> enter_mesh(Program& program, const Target& target) {
  const std::string& text = target.mesh;
  if (text.empty()) return reason("there is no mesh to lay values out on: give one, as in dp=2");
  if (text[0] != '@') return enter_axes(program, text, target.cluster);
  if (text != kOwnMesh && program.find_mesh(text.substr(1)) == nullptr)
    return reason("the program has no mesh {}", text);
  return put_on_one_mesh(program, text.substr(1));
}

// Stage s works m times after those before it have worked once, and updates are shared by all: so a
// step takes a c-th of the work of a micro-batch at least, and an equal part of what is done once.
double weight_of_once(std::int64_t micro_batches, int stages) {
  const auto m = static_cast<double>(micro_batches);
  return m * (1 - std::pow(1 - 1 / m, stages)) / stages;
}

void count_micro_batches(const Program& program, const Function& function,
                         const MicroBatches& micro, int stages, SearchOptions& search) {
  const auto count = static_cast<double>(micro.count);
  search.times.assign(program.op_count(), weight_of_once(micro.count, stages));
  search.argument_times.clear();
  if (const auto phases = micro_phases(program, function, micro))
    for (OpId id = 0; id < phases->size(); ++id)
      if ((*phases)[id] == MicroPhase::each) search.times[id] = count;
  for (int dim : micro.arguments) search.argument_times.push_back(dim >= 0 ? count : 1);
  search.rows_lie_on_stages = stages > 1;
}

namespace {

Expected<SpmdOptions> options_on(Program& program, const std::string& mesh, const Target& target,
                                 const MicroBatches* micro, int stages) {
  SpmdOptions options;
  options.mesh = mesh;
  options.closed_boundary = target.layouts.closed;
  options.function = target.options.entry;
  options.carried = target.carried;
  const GivenLayouts& given = target.layouts;
  const bool any_said = !given.shards.empty() || !given.seeds.empty() || !given.batch.empty();
  if (any_said && mesh.empty() && !program.meshes.empty()) options.mesh = program.meshes[0].name;
  if (any_said && options.mesh.empty())
    return reason("shard needs a mesh: give one, as in dp=2,tp=4");
  if (target.layouts.closed && options.mesh.empty() && program.meshes.empty())
    return reason("closed needs a mesh: give one, as in dp=2,tp=4");
  HEDDLE_TRY(options.seeds, seeds_on(program, options.mesh, target));
  options.rows_lie_on_stages = stages > 1;
  if (target.layouts.search > 0) {
    if (options.mesh.empty() && program.meshes.empty())
      return reason("a search for a plan needs a mesh: give one, as in dp=2,tp=4");
    if (options.mesh.empty()) options.mesh = program.meshes[0].name;
    options.search = search_options(target);
    if (micro != nullptr)
      options.search->count = [micro, stages](const Program& prepared, const Function& function,
                                              SearchOptions& search) {
        count_micro_batches(prepared, function, *micro, stages, search);
      };
  }
  return options;
}

// Devices that could only ever do nothing are a mistake.
Verdict can_use(const MeshDecl* mesh, const Program& program) {
  if (mesh == nullptr) return yes();
  std::int64_t longest = 1;
  for (ValueId v = 0; v < program.value_count(); ++v)
    if (const Type& type = program.type_of(v); type.is_tensor())
      for (std::int64_t size : type.shape) longest = std::max(longest, size);
  for (const MeshAxis& axis : mesh->mesh.axes())
    if (axis.size > longest)
      return reason(
          "mesh axis {}={} is larger than the program, whose longest dimension has {}: give the "
          "axis fewer devices",
          axis.name, axis.size, longest);
  return yes();
}

// Where it is cut into micro-batches, these are dealt out, as is said of the whole batch.
Expected<std::shared_ptr<Parallel>> decided_on(const Program& whole, const Target& said,
                                               const MicroBatches* micro) {
  Target target = said;
  if (micro != nullptr) {
    HEDDLE_TRY(target, with_seeds_of(whole, said));
  }
  Program program = micro != nullptr ? micro->program : whole;
  HEDDLE_TRY(const std::string mesh, enter_mesh(program, target));
  HEDDLE_TRY(const SpmdOptions options, options_on(program, mesh, target, micro, 1));
  if (options.search) HEDDLE_TRY_VOID(can_use(program.find_mesh(options.mesh), program));
  return parallelize(program, options);
}

}  // namespace

Expected<std::shared_ptr<Parallel>> decided_for(const Program& program, const Target& target,
                                                const MicroBatches* micro) {
  const bool open = target.mesh.empty() || target.mesh == kOwnMesh;
  if (target.layouts.search == 0 || !target.cluster || !open)
    return decided_on(program, target, micro);
  return best_of_meshes(target,
                        [&](const Target& tried) { return decided_on(program, tried, micro); });
}

Expected<std::optional<MicroBatches>> micro_batches_of(const Program& program,
                                                       const Target& target) {
  if (target.micro_batches < 1)
    return reason("{} micro-batches: there has to be one", target.micro_batches);
  if (target.micro_batches == 1) return std::optional<MicroBatches>();
  MicroBatchOptions how;
  how.function = target.options.entry;
  how.count = target.micro_batches;
  how.batch = target.batch;
  how.carried = target.carried;
  HEDDLE_TRY(MicroBatches cut, cut_into_micro_batches(program, how));
  return std::optional(std::move(cut));
}

Expected<Spmd> distribute_on(Program& program, const std::string& mesh, const Target& target,
                             const MicroBatches* micro, int stages) {
  HEDDLE_TRY(const SpmdOptions options, options_on(program, mesh, target, micro, stages));
  return partition(program, options);
}

Expected<FoundPlan> found_for(const Program& program, const Target& target) {
  HEDDLE_TRY(const auto decided, decided_for(program, target));
  if (const FoundPlan* const found = found_in(*decided)) return *found;
  return reason("there is no function to search a plan for");
}

Placement placement_of(const Spmd& spmd, const SpmdFunction& f,
                       std::vector<std::vector<int>> stages) {
  auto on = std::make_shared<const PlacedOn>(
      PlacedOn{spmd.program.axes, spmd.program.meshes, std::move(stages)});
  Placement placement(on, f.mesh);
  for (std::size_t i = 0; i < f.arguments.size(); ++i)
    placement.arguments.emplace_back(fmt::format("argument {}", i), f.argument_types[i],
                                     f.arguments[i], on, f.argument_meshes[i]);
  for (std::size_t i = 0; i < f.results.size(); ++i)
    placement.results.emplace_back(fmt::format("result {}", i), f.result_types[i], f.results[i], on,
                                   f.result_meshes[i]);
  return placement;
}

}  // namespace heddle
