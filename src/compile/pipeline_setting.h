// One setting of a search for pipelines: a mesh, stages along one of its axes, micro-batches.
#pragma once

#include "heddle/pipeline_search.h"

namespace heddle {

struct PipelineSetting {
  std::string mesh;  // of all devices
  std::string axis;  // of the stages; empty: there is one
  int stages = 1;
  std::int64_t micro_batches = 1;
  int effort = 0;  // of what is computed again instead of being kept for the way back
};

// What of it does not depend on how many chunks stages have.
struct PipelineWork {
  double each = 0, all = 0;  // seconds of one device that did everything, for a whole step
};

// What is found for it: the best of these chunks.
struct PipelineAnswer {
  PipelineShape shape;
  StageCut cut;
  PipelineTimes times;
  double bound = 0;
  std::int64_t peak_bytes = 0;
  bool memory_costs = false;  // with more of it there would be a better cut
  std::vector<FoundPipeline::Value> arguments, results;
};

// Where arguments and results lie.
void add_values(const MicroBatches& micro, std::uint32_t mesh, const Propagation& layouts,
                PipelineAnswer& answer);

// Its function computes again what is not worth keeping, by this effort; a reason where all is.
Verdict compute_again(MicroBatches& micro, int effort);

// `core` is inlined and has no client ops but those that devices compute. Where nothing fits,
// `needed` is what the best cut that was seen would take of a device.
Expected<PipelineAnswer> answer_for(const Program& core, const Target& target,
                                    const PipelineSetting& setting, const std::vector<int>& chunks,
                                    std::int64_t memory_limit, std::int64_t& needed);

// That of the program, with the figures of a device of the cluster.
Expected<PipelineWork> work_on_one(const Program& core, const Target& target,
                                   const std::optional<Cluster>& cluster,
                                   std::int64_t micro_batches);

// What no pipeline of this setting can take less than, before anything is searched. Where stages
// have one chunk, each stage waits for the one before it.
double floor_of(const PipelineSetting& setting, const PipelineWork& work, std::int64_t devices,
                bool one_chunk);

}  // namespace heddle
