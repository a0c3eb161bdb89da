// Plan files: {"mesh": "dp=2,tp=4", "shard": {"arg0": "dp,_"}}.
#pragma once

#include <string>
#include <vector>

#include "shards.h"

namespace heddle::cli {

struct PlanFile {
  std::string mesh;  // empty: none is given
  std::vector<ShardEntry> shards;
};

// Throws what is wrong; nothing in the file is passed over.
PlanFile read_plan_file(const std::string& file);

}  // namespace heddle::cli
