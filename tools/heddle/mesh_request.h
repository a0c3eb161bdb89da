// What commands that work on a mesh take from the command line: the mesh and what lies where.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heddle/plan_file.h"
#include "heddle/target.h"
#include "options.h"

namespace heddle {
class Transport;
}

namespace heddle::cli {

struct MeshRequest {
  std::string mesh;                 // "dp=2,tp=2", or "@mesh" of the program; empty: as it says
  std::vector<std::string> shards;  // "arg0=dp,_", "tensor<8x4xf32>=[{\"x\"}, {}]"
  std::vector<std::string> fixes;   // "arg0=dp,_", "batch=dp", "memory=70GB"
  std::string plan;                 // a file with both, or auto
  std::string cluster;              // a file, or a name
  bool closed = false;
  std::string stages;         // a number, or auto
  std::string micro_batches;  // the same
  std::string batch;          // "arg0:0": its dimension of the batch; empty: found
  std::string pipeline;       // the axis of stages
  std::string schedule;       // a file, or auto
  int chunks = 0;             // of each stage; 0: nothing is said
  bool given() const {
    return !mesh.empty() || !shards.empty() || !fixes.empty() || !plan.empty() ||
           !cluster.empty() || !schedule.empty();
  }
};

void add_mesh_options(Command& command, MeshRequest& request);

// How the command line wants the batch cut, on a mesh or not.
void set_micro_batches(const MeshRequest& request, Target& target);

// What the command line says of the target: the mesh that it names, or the program's own. Throws
// what is wrong.
Target target_of(const MeshRequest& request, const std::string& entry);

// Where --schedule is auto: finds one for the target, and says what was tried. False: it is not.
bool tune_for(const Program& program, const MeshRequest& request, Target& target,
              const std::function<void(const std::string&)>& say, Transport* ranks = nullptr);

}  // namespace heddle::cli
