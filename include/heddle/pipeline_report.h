// What a search for pipelines has found, for people and scripts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/pipeline_search.h"

namespace heddle {

struct PipelineReport {
  struct Stage {
    double forward = 0, backward = 0, update = 0;  // seconds of one micro-batch, and once
    double busy = 0;                               // seconds of a step
    std::int64_t peak_bytes = 0;                   // of one device
    std::int64_t ops = 0;
  };
  std::string mesh, axis;  // of all devices; the axis of stages, empty where there is one
  int stages = 1, interleave = 1;
  std::int64_t micro_batches = 1;
  double cost = 0, bound = 0, gap = 0;  // seconds of a step; no plan in question takes less
  double seconds = 0;                   // that the search took
  double bubble = 0;                    // the share of a step in which stages wait
  bool fits = true;                     // the memory of the cluster
  std::vector<Stage> per_stage;         // none where there is one
  std::vector<TriedPipeline> tried;
  std::string cut = {};  // which ops have which position, as cut_text() has it

  std::string text() const;
};

PipelineReport pipeline_report(const FoundPipeline& found);

}  // namespace heddle
