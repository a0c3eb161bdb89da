// What commands that work on a mesh take from the command line: the mesh and what lies where.
#pragma once

#include <string>
#include <vector>

#include "heddle/carry.h"
#include "heddle/spmd.h"
#include "heddle/target.h"

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

// The value of an expected one. A reason that begins with the name of an option is thrown as one
// that begins with the option: "shard arg0=x: ..." as "--shard arg0=x: ...".
std::string as_option(const std::string& reason);
template <typename T>
T of_option(Expected<T> expected) {
  if (!expected) throw Error(as_option(expected.reason()));
  return *std::move(expected);
}

// What the command line says of the target: the mesh that it names, or the program's own. Throws
// what is wrong.
Target target_of(const MeshRequest& request, const std::string& entry);

// As --carry says; without a word, or with "evident", what is. Throws what is wrong; where nothing
// is evident, only if it is `needed`.
CarryPlan carry_of(const Program& program, const Function& function,
                   const std::vector<std::string>& said, bool needed);

// Throws where the function is on no mesh.
const SpmdFunction& function_on_mesh(const Spmd& spmd, const std::string& name);

}  // namespace heddle::cli
