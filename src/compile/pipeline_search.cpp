// Stages, micro-batches and meshes together: settings in the order of what is promised, the best
// kept, and those left out that cannot be better.
#include "heddle/pipeline_search.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "compile/distribute.h"
#include "compile/pipeline_setting.h"
#include "compile/stages.h"
#include "heddle/log.h"

namespace heddle {

namespace {

class PipelineSearcher {
 public:
  PipelineSearcher(const Program& core, const Target& target) : core_(core), target_(target) {
    limit_ = std::min(target.layouts.device_memory, memory_wish(target));
    if (target_.layouts.search == 0) target_.layouts.search = 2;
  }

  Expected<FoundPipeline> run() {
    const auto begun = std::chrono::steady_clock::now();
    HEDDLE_TRY_VOID(is_sound());
    found_.target = target_;
    if (target_.stages <= 1 && target_.micro_batches <= 1 && target_.pipeline.empty())
      HEDDLE_TRY_VOID(try_without());
    HEDDLE_TRY_VOID(try_settings());
    if (!any_) return nothing_fits();
    found_.bound = std::min(bound_, found_.cost);
    found_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return std::move(found_);
  }

 private:
  bool on_cluster() const {
    return target_.cluster && (target_.mesh.empty() || target_.mesh == kOwnMesh);
  }

  Verdict is_sound() const {
    if (target_.stages < 0 || target_.micro_batches < 0)
      return reason("{} stages, {} micro-batches: neither is less than 1, or auto", target_.stages,
                    target_.micro_batches);
    if (target_.micro_batches == 1 && (target_.stages > 1 || !target_.pipeline.empty()))
      return reason("stages of a pipeline work on micro-batches: say how many, 2 or more, or auto");
    if (!on_cluster() && (target_.mesh.empty() || target_.mesh[0] == '@'))
      return reason("a search for stages needs to know the devices: name a cluster, or a mesh");
    return yes();
  }

  // ---- plans without stages and micro-batches

  Verdict try_without() {
    std::vector<std::string> meshes{target_.mesh};
    if (on_cluster()) meshes = meshes_of(*target_.cluster);
    std::optional<Reason> no;
    for (const std::string& mesh : meshes) {
      Target tried = target_;
      tried.mesh = mesh;
      tried.stages = 1;
      tried.micro_batches = 1;
      const auto plan = found_for(core_, tried);
      TriedPipeline& one = found_.tried.emplace_back();
      one.mesh = mesh;
      if (!plan) {
        one.why = plan.reason();
        if (!no) no = plan.why();
        continue;
      }
      one.cost = plan->cost;
      one.bound = plan->bound;
      one.peak_bytes = plan->peak_bytes;
      const bool fits = plan->peak_bytes <= limit_;
      if (fits) {
        bound_ = std::min(bound_, plan->bound);
        without_fits_ = true;
      }
      if (!is_better(fits, plan->cost)) continue;
      take(tried, {1, 1, 1, true}, plan->cost, fits);
      found_.peak_bytes = plan->peak_bytes;
      found_.times = {};
      found_.times.seconds = plan->cost;
    }
    if (no && !first_no_) first_no_ = no;
    return yes();
  }

  bool is_better(bool fits, double cost) const {
    if (!any_ || fits != found_.fits) return !any_ || fits;
    return cost < found_.cost;
  }

  void take(Target target, PipelineShape shape, double cost, bool fits) {
    any_ = true;
    found_.target = std::move(target);
    found_.target.stages = 1;  // the mesh says it
    found_.target.chunks = shape.chunks;
    found_.shape = shape;
    found_.cost = cost;
    found_.fits = fits;
    found_.arguments.clear();
    found_.results.clear();
  }

  // ---- stages and micro-batches

  Verdict try_settings() {
    HEDDLE_TRY(const std::vector<PipelineSetting> settings, all_settings());
    if (settings.empty()) return yes();
    const PipelineWork work = work_of(settings.front());
    for (const PipelineSetting& setting : settings) try_setting(setting, work);
    return yes();
  }

  // The mesh with a part of one level of the cluster as the axis of stages: "node=2,gpu=8" with
  // stages inside of nodes: "node=2,stage=4,gpu=2"; where there are more stages than the outermost
  // level has parts, they go on in the next one.
  std::vector<PipelineSetting> meshes_with_stages() const {
    std::vector<PipelineSetting> meshes;
    if (!on_cluster()) {
      AxisRegistry scratch = AxisRegistry::standard();
      if (const auto mesh = Mesh::parse(target_.mesh, scratch))
        for (const MeshAxis& axis : mesh->axes())
          if (may_carry_stages(axis))
            meshes.push_back({target_.mesh, axis.name, static_cast<int>(axis.size)});
      if (target_.pipeline.empty() && target_.stages <= 1) meshes.push_back({target_.mesh, "", 1});
      return meshes;
    }
    const auto& levels = target_.cluster->levels;
    if (target_.stages <= 1)
      for (const std::string& mesh : meshes_of(*target_.cluster)) meshes.push_back({mesh, "", 1});
    if (target_.stages == 1) return meshes;
    for (std::size_t l = 0; l < levels.size(); ++l)
      for (std::int64_t stages = 2; stages <= levels[l].size; ++stages)
        if (levels[l].size % stages == 0) add_mesh(meshes, l, stages, stages);
    if (levels.size() > 1)
      for (std::int64_t more = 2; more <= levels[1].size; ++more)
        if (levels[1].size % more == 0) add_mesh(meshes, 1, more, levels[0].size * more);
    return meshes;
  }

  // The axis that is named, else any that has as many devices.
  bool may_carry_stages(const MeshAxis& axis) const {
    if (!target_.pipeline.empty()) return axis.name == target_.pipeline;
    return axis.size > 1 && (target_.stages == 0 || target_.stages == axis.size);
  }

  void add_mesh(std::vector<PipelineSetting>& meshes, std::size_t level, std::int64_t part,
                std::int64_t stages) const {
    constexpr std::int64_t kMostStages = 64;
    const bool wanted = target_.stages == stages || (target_.stages == 0 && stages <= kMostStages);
    if (!wanted) return;
    const auto& levels = target_.cluster->levels;
    std::string text;
    auto add = [&](const std::string& name, std::int64_t size) {
      if (size > 1) text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, size);
    };
    for (std::size_t l = 0; l < levels.size(); ++l) {
      if (l == level) add(kStageAxis, stages);
      if (l < level && part != stages) continue;  // all of this level are stages
      add(levels[l].name, l == level ? levels[l].size / part : levels[l].size);
    }
    meshes.push_back({text, kStageAxis, static_cast<int>(stages)});
  }

  // How many micro-batches are worth a look: as few as there are stages leave them waiting, many
  // times as many make micro-batches small.
  std::vector<std::int64_t> counts_for(int stages, std::int64_t batch) const {
    if (target_.micro_batches > 0) return {target_.micro_batches};
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

  Expected<std::vector<PipelineSetting>> all_settings() {
    std::vector<PipelineSetting> settings;
    const std::vector<PipelineSetting> meshes = meshes_with_stages();
    if (meshes.empty()) return no_such_stages();
    std::int64_t batch = 1;
    if (target_.micro_batches == 0) {
      const auto size = batch_size();
      if (!size && any_) {  // without micro-batches there is a plan
        found_.tried.emplace_back().why = size.reason();
        return settings;
      }
      if (!size) return size.why();
      batch = *size;
    }
    for (PipelineSetting setting : meshes)
      for (std::int64_t count : counts_for(setting.stages, batch)) {
        setting.micro_batches = count;
        if (setting.stages > 1 || count > 1) settings.push_back(setting);
      }
    return settings;
  }

  Expected<std::int64_t> batch_size() const {
    const Function* function = core_.find_function(target_.options.entry);
    if (function == nullptr || function->body == kNone)
      return reason("there is no function @{} with a body", target_.options.entry);
    BatchDim dim;
    if (target_.batch) {
      dim = *target_.batch;
    } else {
      HEDDLE_TRY(dim, find_batch(core_, target_.options.entry, target_.carried));
    }
    const std::vector<ValueId>& args = core_.region(function->body).args;
    if (dim.argument >= args.size() || dim.dim >= core_.type_of(args[dim.argument]).rank())
      return reason(
          "the batch is said to lie along dimension {} of argument {}, which is not there", dim.dim,
          dim.argument);
    return core_.type_of(args[dim.argument]).shape[dim.dim];
  }

  Reason no_such_stages() const {
    if (!on_cluster() && !target_.pipeline.empty())
      return reason("the mesh {} has no axis {} for the stages", target_.mesh, target_.pipeline);
    if (!on_cluster())
      return reason("{} stages need an axis of as many devices, and the mesh {} has none",
                    target_.stages, target_.mesh);
    std::vector<std::string> sizes;
    for (const Cluster::Level& level : target_.cluster->levels)
      sizes.push_back(fmt::format("{} of {}", level.size, level.name));
    return reason(
        "{} stages do not fit cluster {} ({}): stages have equally many devices, so take a number "
        "that divides one of these, or the first and a part of the second",
        target_.stages, target_.cluster->name, fmt::join(sizes, ", "));
  }

  // One device that did everything: what no setting can do without.
  PipelineWork work_of(const PipelineSetting& setting) const {
    Target one = target_;
    one.mesh = "one=1";
    one.cluster.reset();
    one.layouts.shards.clear();
    one.layouts.seeds.clear();
    PipelineWork work;
    const auto answer = work_on_one(core_, one, target_.cluster, setting.micro_batches);
    if (answer) work = *answer;
    return work;
  }

  void try_setting(const PipelineSetting& setting, const PipelineWork& work) {
    TriedPipeline& one = found_.tried.emplace_back();
    one.mesh = setting.mesh;
    one.shape = {setting.stages, static_cast<int>(setting.micro_batches), 1, true};
    if (setting.stages == 1 && without_fits_ && target_.micro_batches == 0) {
      one.why = "it takes at least as long as without micro-batches, which fit";
      return;
    }
    std::vector<int> chunks{std::max(1, target_.chunks)};
    const bool may_interleave = setting.stages > 1 && setting.micro_batches % setting.stages == 0;
    if (target_.chunks == 0 && may_interleave) chunks = {1, 2};
    one.bound = floor_of(setting, work, devices(), chunks.size() == 1);
    if (any_ && found_.fits && one.bound >= found_.cost) {
      one.why = "no such plan can be better";
      return;
    }
    const auto answer = answer_for(core_, target_, setting, chunks, limit_);
    if (!answer) {
      one.why = answer.reason();
      if (!first_no_) first_no_ = answer.why();
      log(kLogSteps, "pipeline: {} with {} micro-batches: {}", setting.mesh, setting.micro_batches,
          one.why);
      return;
    }
    one.shape = answer->shape;
    one.cost = answer->times.seconds;
    one.bound = std::max(one.bound, answer->bound);
    one.peak_bytes = answer->peak_bytes;
    bound_ = std::min(bound_, one.bound);
    log(kLogSteps, "pipeline: {} with {} micro-batches takes {:.3g} ms, at least {:.3g} ms",
        setting.mesh, setting.micro_batches, one.cost * 1e3, one.bound * 1e3);
    if (!is_better(true, one.cost)) return;
    Target target = target_;
    target.mesh = setting.mesh;
    target.pipeline = setting.axis;
    target.micro_batches = setting.micro_batches;
    if (!setting.axis.empty()) target.cut = answer->cut;
    take(std::move(target), answer->shape, one.cost, true);
    found_.times = answer->times;
    found_.peak_bytes = answer->peak_bytes;
    found_.arguments = answer->arguments;
    found_.results = answer->results;
  }

  std::int64_t devices() const {
    if (on_cluster()) return target_.cluster->devices();
    AxisRegistry scratch = AxisRegistry::standard();
    const auto mesh = Mesh::parse(target_.mesh, scratch);
    return mesh ? mesh->devices() : 1;
  }

  Reason nothing_fits() const {
    if (first_no_) return *first_no_;
    return reason("there are no stages and micro-batches to look at");
  }

  const Program& core_;
  Target target_;
  std::int64_t limit_ = INT64_MAX;
  FoundPipeline found_;
  bool any_ = false, without_fits_ = false;
  double bound_ = 1e300;
  std::optional<Reason> first_no_;
};

}  // namespace

bool searches_pipeline(const Target& target) {
  const bool without_cut = !target.pipeline.empty() && !target.cut && target.layouts.search > 0;
  return target.stages != 1 || target.micro_batches == 0 || without_cut;
}

Expected<Target> with_best_pipeline(const Program& core, const Target& target) {
  if (!searches_pipeline(target)) return target;
  HEDDLE_TRY(FoundPipeline found, PipelineSearcher(core, target).run());
  return std::move(found.target);
}

Expected<FoundPipeline> search_pipeline(const Program& program, const Target& target) {
  Stages stages(target.options);
  HEDDLE_TRY(const Program core, program_to_deal(program, target, stages));
  return PipelineSearcher(core, target).run();
}

Verdict set_pipeline(const PlanFile& plan, Target& target) {
  if (plan.micro_batches > 0) target.micro_batches = plan.micro_batches;
  if (plan.interleave > 0) target.chunks = plan.interleave;
  if (target.pipeline.empty()) target.pipeline = plan.pipeline;
  if (plan.cut.empty()) return yes();
  StageCut& cut = target.cut.emplace();
  HEDDLE_TRY(cut.positions, parse_cut(plan.cut));
  cut.shape = {std::max(1, plan.stages), static_cast<int>(target.micro_batches), target.chunks,
               true};
  cut.memory = plan.memory.value_or(INT64_MAX);
  cut.shape.backward =
      std::ranges::any_of(cut.positions, [&](int p) { return p >= cut.shape.virtual_stages(); });
  return yes();
}

// ---- cuts in words

std::string cut_text(const std::vector<int>& positions) {
  std::string text;
  for (std::size_t i = 0; i < positions.size();) {
    std::size_t end = i;
    while (end < positions.size() && positions[end] == positions[i]) ++end;
    text += fmt::format("{}{}x{}", text.empty() ? "" : " ", positions[i], end - i);
    i = end;
  }
  return text;
}

Expected<std::vector<int>> parse_cut(const std::string& text) {
  constexpr std::int64_t kMostOps = 1 << 24, kMostPosition = 1 << 20;
  std::vector<int> positions;
  const char* at = text.c_str();
  while (*at != 0) {
    long position = 0, count = 0;
    int read = 0;
    if (std::sscanf(at, "%ldx%ld%n", &position, &count, &read) != 2 || position < -1 ||
        position > kMostPosition || count < 1 ||
        count > kMostOps - static_cast<std::int64_t>(positions.size()))
      return reason("\"{}\" is no cut: it is as \"0x12 1x30\", twelve ops at position 0, ...",
                    shortened(text, 60));
    positions.insert(positions.end(), static_cast<std::size_t>(count), static_cast<int>(position));
    at += read;
    while (*at == ' ') ++at;
  }
  return positions;
}

}  // namespace heddle
