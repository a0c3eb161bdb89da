// Plan files: {"mesh": "dp=2,tp=4", "shard": {"arg0": "dp,_"}}.
#pragma once

#include <string>
#include <vector>

#include "heddle/shards.h"

namespace heddle {

struct PlanFile {
  std::string mesh;  // empty: none is given
  std::vector<ShardEntry> shards;
};

// Nothing in the file is passed over.
Expected<PlanFile> read_plan_file(const std::string& file);

}  // namespace heddle
