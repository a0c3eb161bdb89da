#include "compile/pipeline_settings.h"

#include <algorithm>

#include "base/words.h"

namespace heddle {

namespace {

class StageMeshes {
 public:
  explicit StageMeshes(const Target& target) : target_(target) {}

  // The mesh with a part of one level of the cluster as the axis of stages: "node=2,gpu=8" with
  // stages inside of nodes: "node=2,stage=4,gpu=2"; where there are more stages than the outermost
  // level has parts, they go on in the next one.
  std::vector<PipelineSetting> run() {
    if (!is_on_cluster(target_)) return on_mesh();
    const auto& levels = target_.cluster->levels;
    if (target_.stages <= 1)
      for (const std::string& mesh : meshes_of(*target_.cluster)) meshes_.push_back({mesh, "", 1});
    if (target_.stages == 1) return meshes_;
    for (std::size_t l = 0; l < levels.size(); ++l)
      for (std::int64_t stages = 2; stages <= levels[l].size; ++stages)
        if (levels[l].size % stages == 0) add(l, stages, stages);
    if (levels.size() > 1)
      for (std::int64_t more = 2; more <= levels[1].size; ++more)
        if (levels[1].size % more == 0) add(1, more, levels[0].size * more);
    return meshes_;
  }

 private:
  std::vector<PipelineSetting> on_mesh() {
    AxisRegistry scratch = AxisRegistry::standard();
    if (const auto mesh = Mesh::parse(target_.mesh, scratch))
      for (const MeshAxis& axis : mesh->axes())
        if (may_carry_stages(axis))
          meshes_.push_back({target_.mesh, axis.name, static_cast<int>(axis.size)});
    if (target_.pipeline.empty() && target_.stages <= 1) meshes_.push_back({target_.mesh, "", 1});
    return meshes_;
  }

  // The axis that is named, else any that has as many devices.
  bool may_carry_stages(const MeshAxis& axis) const {
    if (!target_.pipeline.empty()) return axis.name == target_.pipeline;
    return axis.size > 1 && (target_.stages == 0 || target_.stages == axis.size);
  }

  void add(std::size_t level, std::int64_t part, std::int64_t stages) {
    constexpr std::int64_t kMostStages = 64;
    const bool wanted = target_.stages == stages || (target_.stages == 0 && stages <= kMostStages);
    if (!wanted) return;
    const auto& levels = target_.cluster->levels;
    std::string text;
    auto add_axis = [&](const std::string& name, std::int64_t size) {
      if (size > 1) text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, size);
    };
    for (std::size_t l = 0; l < levels.size(); ++l) {
      if (l == level) add_axis(kStageAxis, stages);
      if (l < level && part != stages) continue;  // all of this level are stages
      add_axis(levels[l].name, l == level ? levels[l].size / part : levels[l].size);
    }
    meshes_.push_back({text, kStageAxis, static_cast<int>(stages)});
  }

  const Target& target_;
  std::vector<PipelineSetting> meshes_;
};

// As few micro-batches as there are stages leave them waiting, many times as many make them small.
std::vector<std::int64_t> counts_for(const Target& target, int stages, std::int64_t batch) {
  if (target.micro_batches > 0) return {target.micro_batches};
  std::vector<std::int64_t> counts;
  constexpr std::int64_t kMost = 16;
  for (std::int64_t times : {4, 2, 8, 1})
    if (const std::int64_t m = times * stages; m > 1 && m <= batch && batch % m == 0)
      counts.push_back(m);
  if (stages == 1 || !counts.empty()) return counts;
  for (std::int64_t m = std::min(batch, kMost * stages); m > 1 && counts.empty(); --m)
    if (batch % m == 0) counts.push_back(m);
  return counts;
}

// The largest axis but that of the stages, cut in two about equal ones where it is no prime.
std::optional<PipelineSetting> with_axis_cut(const PipelineSetting& setting) {
  AxisRegistry scratch = AxisRegistry::standard();
  const auto mesh = Mesh::parse(setting.mesh, scratch);
  if (!mesh) return std::nullopt;
  const MeshAxis* largest = nullptr;
  std::int64_t inner = 1;
  for (const MeshAxis& axis : mesh->axes()) {
    if (axis.name == setting.axis || (largest != nullptr && axis.size <= largest->size)) continue;
    std::int64_t divisor = 1;
    for (std::int64_t d = 2; d * d <= axis.size; ++d)
      if (axis.size % d == 0) divisor = d;
    if (divisor == 1) continue;
    largest = &axis;
    inner = divisor;
  }
  if (largest == nullptr) return std::nullopt;
  std::string text;
  const auto add = [&](const std::string& name, std::int64_t size) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, size);
  };
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::any_of(mesh->axes(), [&](const MeshAxis& a) { return a.name == name; });
  };
  for (const MeshAxis& axis : mesh->axes()) {
    add(axis.name, &axis == largest ? axis.size / inner : axis.size);
    if (&axis != largest) continue;
    std::string name = axis.name + "_inner";
    if (is_taken(name)) name = axis.name + "_middle";
    add(name, inner);
  }
  PipelineSetting cut = setting;
  cut.mesh = std::move(text);
  return cut;
}

}  // namespace

bool is_on_cluster(const Target& target) {
  return target.cluster && (target.mesh.empty() || target.mesh == kOwnMesh);
}

std::int64_t devices_of(const Target& target) {
  if (is_on_cluster(target)) return target.cluster->devices();
  AxisRegistry scratch = AxisRegistry::standard();
  const auto mesh = Mesh::parse(target.mesh, scratch);
  return mesh ? mesh->devices() : 1;
}

Verdict can_search_pipeline(const Target& target) {
  if (target.stages < 0 || target.micro_batches < 0)
    return reason("{} stages, {} micro-batches: neither is less than 1, or auto", target.stages,
                  target.micro_batches);
  if (target.micro_batches == 1 && (target.stages > 1 || !target.pipeline.empty()))
    return reason("stages of a pipeline work on micro-batches: say how many, 2 or more, or auto");
  if (!is_on_cluster(target) && (target.mesh.empty() || target.mesh[0] == '@'))
    return reason("a search for stages needs to know the devices: name a cluster, or a mesh");
  return yes();
}

PipelineWork work_of(const Program& core, const Target& target, std::int64_t micro_batches) {
  Target one = target;
  one.mesh = "one=1";
  one.cluster.reset();
  one.layouts.shards.clear();
  one.layouts.seeds.clear();
  // One device has no choice, so that this takes no time to speak of; a stop or the end of the time
  // would leave no bound.
  one.layouts.search_stop = {};
  one.layouts.search_seconds = 0;
  const auto answer = work_on_one(core, one, target.cluster, micro_batches);
  return answer ? *answer : PipelineWork();
}

std::vector<PipelineSetting> meshes_with_stages(const Target& target) {
  return StageMeshes(target).run();
}

std::vector<PipelineSetting> with_micro_batches(const Target& target,
                                                const std::vector<PipelineSetting>& meshes,
                                                std::int64_t batch) {
  std::vector<PipelineSetting> settings;
  for (PipelineSetting setting : meshes)
    for (std::int64_t count : counts_for(target, setting.stages, batch)) {
      setting.micro_batches = count;
      if (setting.stages > 1 || count > 1) settings.push_back(setting);
    }
  return settings;
}

Expected<std::int64_t> batch_size(const Program& core, const Target& target) {
  const Function* function = core.find_function(target.options.entry);
  if (function == nullptr || function->body == kNone)
    return reason("there is no function @{} with a body", target.options.entry);
  BatchDim dim;
  if (target.batch) {
    dim = *target.batch;
  } else {
    HEDDLE_TRY(dim, find_batch(core, target.options.entry, target.carried));
  }
  const std::vector<ValueId>& args = core.region(function->body).args;
  if (dim.argument >= args.size() || dim.dim >= core.type_of(args[dim.argument]).rank())
    return reason("the batch is said to lie along dimension {} of argument {}, which is not there",
                  dim.dim, dim.argument);
  return core.type_of(args[dim.argument]).shape[dim.dim];
}

std::vector<PipelineSetting> finer(const PipelineSetting& setting, std::size_t most_axes) {
  // Each axis beyond the first follows a comma, and one of them has the stages.
  const auto axes = static_cast<std::size_t>(std::ranges::count(setting.mesh, ','));
  const std::size_t more = most_axes - std::min(most_axes, axes);
  std::vector<PipelineSetting> all;
  for (auto cut = with_axis_cut(setting); cut && all.size() < more; cut = with_axis_cut(all.back()))
    all.push_back(*cut);
  return all;
}

Reason no_such_stages(const Target& target) {
  if (!is_on_cluster(target) && !target.pipeline.empty())
    return reason("the mesh {} has no axis {} for the stages", target.mesh, target.pipeline);
  if (!is_on_cluster(target))
    return reason("{} stages need an axis of as many devices, and the mesh {} has none",
                  target.stages, target.mesh);
  std::vector<std::string> sizes;
  for (const Cluster::Level& level : target.cluster->levels)
    sizes.push_back(fmt::format("{} of {}", level.size, level.name));
  return reason(
      "{} stages do not fit cluster {} ({}): stages have equally many devices, so take a number "
      "that divides one of these, or the first and a part of the second",
      target.stages, target.cluster->name, fmt::join(sizes, ", "));
}

Reason no_such_micro_batches(const Target& target, std::int64_t batch) {
  return reason(
      "the batch has {} elements, which no number of micro-batches divides that a search tries{}: "
      "take another batch, or say how many micro-batches, or which dimension is the batch",
      batch, target.stages > 1 ? fmt::format(" for {} stages", target.stages) : "");
}

Verdict leaves_axis_to_stages(const Target& target, const std::string& axis) {
  const auto no = [&](const std::string& said) {
    return reason(
        "{}: axis {} carries the stages of the pipeline, and nothing is split over it: "
        "name another axis, or _",
        said, axis);
  };
  const auto names = [&](const Sharding& sharding) {
    return std::ranges::any_of(sharding.dims, [&](const auto& dim) {
      return std::ranges::any_of(dim.axes, [&](const auto& a) { return a.name == axis; });
    });
  };
  if (axis.empty()) return yes();
  for (const ShardEntry& entry : target.layouts.shards) {
    HEDDLE_TRY(const Sharding sharding, parse_sharding(entry.sharding, "", entry.source));
    if (names(sharding)) return no(entry.source);
  }
  if (std::ranges::count(split_outside(target.layouts.batch, '+'), axis) > 0)
    return no("fix batch=" + target.layouts.batch);
  for (const Seed& seed : target.layouts.seeds)
    if (names(seed.sharding))
      return no(fmt::format("{} {}", seed.is_result ? "result" : "argument", seed.index));
  return yes();
}

}  // namespace heddle
