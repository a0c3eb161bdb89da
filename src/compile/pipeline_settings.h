// Which settings a search for pipelines looks at.
#pragma once

#include "compile/pipeline_setting.h"

namespace heddle {

// Whether the devices are those of a cluster, on whichever mesh is best.
bool is_on_cluster(const Target& target);

std::int64_t devices_of(const Target& target);
// Whether what the target says of stages, micro-batches and devices goes together.
Verdict can_search_pipeline(const Target& target);
// One device that did everything: what no setting can do without.
PipelineWork work_of(const Program& core, const Target& target, std::int64_t micro_batches);

// All meshes with an axis of stages that the target leaves open, and those without stages.
std::vector<PipelineSetting> meshes_with_stages(const Target& target);
// Those with so many micro-batches as are worth a look, for a batch of this size.
std::vector<PipelineSetting> with_micro_batches(const Target& target,
                                                const std::vector<PipelineSetting>& meshes,
                                                std::int64_t batch);
Expected<std::int64_t> batch_size(const Program& core, const Target& target);

// The setting on meshes whose axes are cut into smaller ones, the coarsest first. Ops choose their
// axes by themselves, so that each stage has there the shape that is best for it: four devices
// along the batch and two along weights on one, the other way round on the next. A stage has at
// most so many axes there.
std::vector<PipelineSetting> finer(const PipelineSetting& setting, std::size_t most_axes);

// Why there is no mesh with the stages that are wanted, and no number of micro-batches.
Reason no_such_stages(const Target& target);
Reason no_such_micro_batches(const Target& target, std::int64_t batch);

// Whether nothing is said to lie over the axis of the stages, each of which has one place on it.
Verdict leaves_axis_to_stages(const Target& target, const std::string& axis);

}  // namespace heddle
