// interpreter.run_parallel on real devices: the test programs of StableHLO start several processes
// with it, each with a function of its own.
#pragma once

#include "heddle/compile.h"
#include "heddle/interpreter.h"
#include "heddle/transport.h"

namespace heddle {

// For InterpretOptions::run_parallel: every process is a thread of this one, compiled.
ParallelRunner run_parallel_on_threads(const CompileOptions& options);
// This process is one of the ranks, and all get all results. The transport outlives the runner.
ParallelRunner run_parallel_on(Transport& transport, const CompileOptions& options);

}  // namespace heddle
