// What commands that work on a mesh take from the command line: the mesh and what lies where.
#pragma once

#include <string>
#include <vector>

#include "heddle/spmd.h"

namespace CLI {
class App;
}

namespace heddle::cli {

struct MeshRequest {
  std::string mesh;                 // "dp=2,tp=2", or "@mesh" of the program; empty: as it says
  std::vector<std::string> shards;  // "arg0=dp,_", "tensor<8x4xf32>=[{\"x\"}, {}]"
  std::string plan;                 // a file with both
  bool closed = false;
  bool given() const { return !mesh.empty() || !shards.empty() || !plan.empty(); }
};

void add_mesh_options(CLI::App& command, MeshRequest& request);

// The function that runs: as asked, main, or the only public one; empty where there are several.
std::string entry_of(const Program& program, const std::string& asked);

// The program for every device of the mesh. Calls are inlined and client ops lowered first. Shards
// are those of `function`, and what it carries from run to run lies alike at both ends. Throws what
// is wrong.
Spmd partition_for(Program program, const MeshRequest& request, const std::string& function,
                   const std::vector<Carried>& carried = {});

// Throws where the function is on no mesh.
const SpmdFunction& function_on_mesh(const Spmd& spmd, const std::string& name);

}  // namespace heddle::cli
