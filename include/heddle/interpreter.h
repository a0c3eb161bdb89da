// The reference interpreter: what a program means. Simple, deterministic, never fast.
#pragma once

#include <functional>

#include "heddle/host_call.h"
#include "heddle/program.h"

namespace heddle {

class TraceRecorder;

// What interpreter.run_parallel asks for: a function with its arguments for each process, where
// partitions count fastest.
struct ParallelRun {
  const Program& program;
  std::int64_t replicas = 1, partitions = 1;
  std::vector<const Function*> functions;
  std::vector<std::vector<Array>> arguments;
  std::function<void(std::string_view)> print = {};
};
// Gives the results of each.
using ParallelRunner =
    std::function<Expected<std::vector<std::vector<Array>>>(const ParallelRun& run)>;

struct InterpretOptions {
  // The most bytes that values may take together; more is an error, not a crash.
  std::int64_t memory_limit = std::int64_t{8} << 30;
  // Skips verify(program), for a program that has passed it before.
  bool verified = false;
  // Where interpreter.print writes; stdout where there is none.
  std::function<void(std::string_view)> print = {};
  // Answers calls into Python and the like; such a call is an error where there is none.
  HostCaller host_call = {};
  // Gets a span per function and op that runs; not for ops that run once per element, as in the
  // body of a reduction.
  TraceRecorder* trace = nullptr;
  // Asked before every turn of a loop: yes ends the run with a reason.
  std::function<bool()> stop = {};
  // Runs the processes of interpreter.run_parallel; the interpreter does so where there is none,
  // and where they are fed.
  ParallelRunner run_parallel = {};
};

// Runs a function on arrays, one per argument; a tuple is given as its parts, flat. A failed
// check.* op is a reason too.
Expected<std::vector<Array>> interpret(const Program& program, const Function& function,
                                       std::vector<Array> arguments,
                                       const InterpretOptions& options = {});

}  // namespace heddle
