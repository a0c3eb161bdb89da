// A pipeline, and what a search for it has found, for people and scripts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/pipeline_search.h"
#include "heddle/pipelined.h"

namespace heddle {

struct PipelineReport {
  struct Stage {
    double forward = 0, backward = 0, update = 0;  // seconds of one micro-batch, and once
    double busy = 0;                               // seconds of a step
    std::int64_t peak_bytes = 0;                   // of one device
    std::int64_t ops = 0;
    std::string shape = {};  // "4 along the batch, 2 along weights": how its devices share the work
    std::vector<std::pair<std::string, std::string>> layout = {};  // what each axis splits of it
    std::int64_t received = 0;  // by a device in a step, of the others of its stage
  };
  struct Messages {  // from one stage to another, in a step
    int from = 0, to = 0;
    std::int64_t count = 0, bytes = 0;  // that one device sends
  };
  std::string mesh, axis;  // of all devices; the axis of stages, empty where there is one
  int stages = 1, interleave = 1;
  std::int64_t micro_batches = 1;
  bool searched = true;                 // else it was given, and there is no bound
  double cost = 0, bound = 0, gap = 0;  // seconds of a step; no plan in question takes less
  double seconds = 0;                   // that the search took
  double bubble = 0;                    // the share of a step in which stages wait
  bool fits = true;                     // the memory of the cluster
  std::vector<Stage> per_stage;         // none where there is one
  std::vector<Messages> messages = {};
  std::vector<TriedPipeline> tried;
  int effort = 0;        // of what is computed again instead of being kept for the way back
  std::string cut = {};  // which ops have which position, as cut_text() has it

  std::string text() const;
};

// Of one stage, or before anything is dealt out.
PipelineReport pipeline_report(const FoundPipeline& found);
// "stage=2,dp=4, 2 stages, 8 micro-batches"
std::string setting_text(const FoundPipeline& found);
// Of stages as their devices have them; by the search that found them, where one has.
PipelineReport pipeline_report(const Pipeline& pipeline, const FoundPipeline* found = nullptr);

}  // namespace heddle
