// The reference interpreter: what a program means. Simple, deterministic, never fast.
#pragma once

#include <functional>

#include "heddle/program.h"

namespace heddle {

class TraceRecorder;

struct InterpretOptions {
  // The most bytes that values may take together; more is an error, not a crash.
  std::int64_t memory_limit = std::int64_t{8} << 30;
  // Skips verify(program), for a program that has passed it before.
  bool verified = false;
  // Where interpreter.print writes; stdout where there is none.
  std::function<void(std::string_view)> print = {};
  // Gets a span per function and op that runs; not for ops that run once per element, as in the
  // body of a reduction.
  TraceRecorder* trace = nullptr;
};

// Runs a function on arrays, one per argument; a tuple is given as its parts, flat. A failed
// check.* op is a reason too.
Expected<std::vector<Array>> interpret(const Program& program, const Function& function,
                                       std::vector<Array> arguments,
                                       const InterpretOptions& options = {});

}  // namespace heddle
