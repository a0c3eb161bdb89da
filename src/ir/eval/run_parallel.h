// The grid of functions that interpreter.run_parallel runs.
#pragma once

#include "ir/eval/eval.h"

namespace heddle {

// One thread each.
inline constexpr std::size_t kMostProcesses = 1024;

struct ProgramGrid {
  std::int64_t replicas = 0, partitions = 0;
  std::vector<const Function*> functions;  // partitions count fastest
  std::vector<const Function*> infeed;     // what each gives is one entry of the queue
};
Expected<ProgramGrid> program_grid(const Program& program, const Op& op);

}  // namespace heddle
