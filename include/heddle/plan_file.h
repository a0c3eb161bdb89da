// Plan files: {"mesh": "dp=2,tp=4", "shard": {"arg0": "dp,_"}, "search": 2}.
#pragma once

#include <string>
#include <vector>

#include "heddle/shards.h"

namespace heddle {

struct PlanFile {
  std::string mesh;  // empty: none is given
  std::vector<ShardEntry> shards;
  int search = 0;  // the level at which the rest is searched for; 0: it propagates
  // Of a pipeline: the axis of stages, and how many micro-batches and chunks of a stage there are;
  // none: nothing is said. Stages are there to be read: they are as many as the axis is long.
  std::string pipeline = {};
  int stages = 0, interleave = 0;
  std::int64_t micro_batches = 0;
  std::string cut = {};  // "0x12 1x30": how many ops in a row have which position
};

// Instead of a file: everything is searched for.
inline constexpr const char* kAutomaticPlan = "auto";

// Nothing in the file is passed over.
Expected<PlanFile> read_plan_file(const std::string& file_or_auto);

// A file that read_plan_file() reads back.
std::string plan_file_text(const PlanFile& plan);

}  // namespace heddle
