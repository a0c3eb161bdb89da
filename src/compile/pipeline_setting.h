// One setting of a search for pipelines: a mesh, stages along one of its axes, micro-batches.
#pragma once

#include <limits>
#include <memory>
#include <optional>

#include "heddle/pipeline_search.h"
#include "parallel/pipeline/least_step.h"

namespace heddle {

struct PipelineSetting {
  std::string mesh;  // of all devices
  std::string axis;  // of the stages; empty: there is one
  int stages = 1;
  std::int64_t micro_batches = 1;
  int effort = 0;  // of what is computed again instead of being kept for the way back
};

// What one device would do of a program in so many micro-batches, that did everything.
struct PipelineWork {
  double each = 0,
         all = 0;        // seconds of a whole step: of micro-batches, and with what is done once
  bool backward = true;  // whether there is a way back
  pipeline::CutGraph graph = {};
  std::shared_ptr<const MicroBatches> micro = {};
  std::int64_t turns = 0;  // of loops that stages may cut
  std::size_t ops = 0;     // of a micro-batch, with all turns apart
};

// What is found for it: the best of these chunks.
struct PipelineAnswer {
  PipelineShape shape;
  StageCut cut;
  PipelineTimes times;
  double bound = 0;
  std::int64_t peak_bytes = 0;
  bool memory_costs = false;  // with more of it there would be a better cut
  bool lies_as_said =
      false;  // arguments lie where a search that knows of no stages would not have them
  std::vector<FoundPipeline::Value> arguments, results;
};

// Where arguments and results lie.
void add_values(const MicroBatches& micro, std::uint32_t mesh, const Propagation& layouts,
                PipelineAnswer& answer);

// Its function computes again what is not worth keeping, by this effort; a reason where all is.
Verdict compute_again(MicroBatches& micro, int effort);

// How far a search for less memory has come.
struct SettingMemory {
  std::int64_t limit =
      INT64_MAX;            // to be tried next, of what one device of every stage has together
  double too_much = 0;      // of that, for some stage
  std::int64_t needed = 0;  // bytes of a device for the best cut that was seen
  double bound = 0;         // seconds of a step, whatever memory there is
  Reason why = {};
};

// What a search for a setting is told, and tells beside its answer.
struct SettingLimits {
  std::int64_t memory = INT64_MAX;  // of one device
  const PipelineWork* work = nullptr;
  // Seconds of a step of a plan at hand: what takes longer is of no use.
  double to_beat = std::numeric_limits<double>::infinity();
  bool once = false;  // it ends where stages take too much memory, and says how to go on
  std::optional<SettingMemory> go_on = {};  // from there
};
struct SettingOutcome {
  Expected<PipelineAnswer> answer = Reason{};
  SettingMemory memory = {};     // where nothing fits
  bool beaten = false;           // no plan of it takes less than the one at hand
  bool is_open = false;          // with less memory nothing was tried
  std::vector<int> chunks = {};  // that this is about
};

// `core` is inlined and has no client ops but those that devices compute.
SettingOutcome answer_for(const Program& core, const Target& target, const PipelineSetting& setting,
                          const std::vector<int>& chunks, const SettingLimits& limits);

// That of the program, with the figures of a device of the cluster.
Expected<PipelineWork> work_on_one(const Program& core, const Target& target,
                                   const std::optional<Cluster>& cluster,
                                   std::int64_t micro_batches);

// What no pipeline of this setting can take less than, before anything is searched.
double floor_of(const PipelineSetting& setting, const std::vector<int>& chunks,
                const PipelineWork& work, const std::optional<Cluster>& cluster);

}  // namespace heddle
