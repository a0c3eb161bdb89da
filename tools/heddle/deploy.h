// A function on its way to run: compiled or interpreted, on one device or on those of a mesh.
#pragma once

#include <optional>

#include "execute.h"
#include "heddle/deployment.h"
#include "heddle/target.h"

namespace heddle::cli {

struct Deployed {
  Deployment deployment;
  std::optional<Executable> executable;  // none: interpreted
  double compile_seconds = 0;
  std::int64_t memory_limit = 0;  // of one device
  std::string interpreted_because = {};

  // What it became: steps, memory, the time to compile.
  void describe(Execution& done) const;
};

// Throws what is wrong. `program` and `function` must live longer. Where a program cannot run on
// the mesh that only it has named, it runs on one device, and standard error says why.
Deployed deploy(const Program& program, const Function& function, const Target& target,
                const ExecuteRequest& request, const InterpretOptions& options);

}  // namespace heddle::cli
