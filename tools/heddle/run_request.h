// What `heddle run` was asked for.
#pragma once

#include <string>
#include <vector>

#include "heddle/compare.h"
#include "heddle/execute.h"
#include "heddle/saving.h"
#include "mesh_request.h"
#include "options.h"
#include "ranks.h"

namespace heddle::cli {

// A run of many steps.
struct StepsRequest {
  std::int64_t steps = 0;            // to reach; 0: one, as without
  std::vector<std::string> carry;    // "arg0-85=result1-86"; empty: what is evident
  std::string restore;               // a checkpoint, or a folder of them
  std::vector<std::string> batches;  // NAME=SOURCE, or SOURCE: an array for each step
  bool cycle = false;                // the first batch follows the last
  SaveRequest save;
  bool given() const { return steps > 0 || !restore.empty(); }
};

struct RunRequest {
  std::string file, entry, io, output, trace, until = "read";
  std::vector<std::string> inputs;
  bool check = false;
  Tolerance tolerance;
  std::string memory;  // the most for values, as 16GB; empty: half of the machine's
  std::string device = "cpu";
  std::string engine = "compiled";  //
  bool fuse = true;                 // false: every op by itself
  bool overlap = true;              // false: collectives are waited for where they begin
  bool async = false;               // machine code is made while it runs
  ExecuteOptions execute;
  MeshRequest mesh;
  RankRequest ranks;
  StepsRequest steps;
  ReportOptions report;

  // What gives arguments, in the order of the command line.
  std::vector<std::string> sources() const;
  bool is_first_rank() const { return execute.ranks == nullptr || execute.ranks->rank() == 0; }
};

void add_run_options(Command& command, RunRequest& request);
// Throws options that contradict one another, or would be without effect.
void check_run_options(const RunRequest& request);
// Throws files that could not be written: found before the work, not after it.
void check_files(const RunRequest& request);

}  // namespace heddle::cli
