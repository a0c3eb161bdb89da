// The search for pipelines: how many stages on which devices of a cluster, how many micro-batches,
// and how the devices of a stage share its work, all together. Plans without stages compete.
#pragma once

#include "heddle/pipeline.h"
#include "heddle/plan_file.h"
#include "heddle/search.h"
#include "heddle/target.h"

namespace heddle {

// Devices, stages and micro-batches that were looked at.
struct TriedPipeline {
  std::string mesh;  // with the axis of stages
  std::string axis;  // that of the stages; empty: there is one
  PipelineShape shape;
  double cost = 0;   // seconds of a step; 0: see `why`
  double bound = 0;  // no plan on this mesh with these stages and micro-batches takes less
  std::int64_t peak_bytes = 0;
  int effort = 0;        // of what is computed again on the way back
  std::string why;       // it is no plan, or nobody looked closer
  bool untried = false;  // others that promised more brought nothing
};

struct FoundPipeline {
  // What it was found for, with its mesh, axis of stages, micro-batches, chunks and cut.
  Target target;
  PipelineShape shape;
  PipelineTimes times;
  double cost = 0, bound = 0;   // seconds of one step; no plan that was in question takes less
  double seconds = 0;           // that the search took
  bool fits = true;             // the memory of the cluster, which is kept where a plan can
  std::int64_t peak_bytes = 0;  // of a device, by the search's count
  std::vector<TriedPipeline> tried;
  double gap() const { return cost > bound ? (cost - bound) / cost : 0; }

  // Where arguments and results lie on the devices of their stages, and what they have of them.
  struct Value {
    Type type, part;
    std::string sharding;  // [{"dp"}, {}]
    std::vector<int> stages;
  };
  std::vector<Value> arguments, results;
};

// The axis of stages in a mesh that the search has made.
inline constexpr const char* kStageAxis = "stage";

// Whether the target leaves stages or micro-batches to a search.
bool searches_pipeline(const Target& target);

// For a target with a cluster or a mesh. Stages and micro-batches that it says hold; where they are
// 0 they are searched for. All stages have equally many devices. A reason where nothing fits, with
// what would.
Expected<FoundPipeline> search_pipeline(const Program& program, const Target& target);

// What a plan file says of stages and micro-batches. Where a search is to say how many stages there
// are and nobody says how many micro-batches, it says that too, and whether to interleave.
Verdict set_pipeline(const PlanFile& plan, Target& target);

// "0x12 1x30": how many ops in a row have which position; and back.
std::string cut_text(const std::vector<int>& positions);
Expected<std::vector<int>> parse_cut(const std::string& text);

}  // namespace heddle
