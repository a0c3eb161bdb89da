// From compiled units to steps: every value gets its memory.
#pragma once

#include "heddle/executable.h"
#include "heddle/placement.h"
#include "runtime/compiled.h"

namespace heddle::runtime {

struct AssembleOptions {
  // Arguments that may be overwritten; more than there are arguments say nothing.
  std::vector<bool> donated;
  // The most bytes that values may take together.
  std::int64_t memory_limit = INT64_MAX;
  // Where arguments and results lie.
  Placement placement = Placement::on_one_device({}, {});
  // Whether other steps may run while a collective is under way; its operands and results then take
  // memory for longer. Given up where the limit does not allow it.
  bool overlap = true;
};

// A reason where more memory is needed than the limit allows.
Expected<Executable> assemble(CompiledProgram compiled, const AssembleOptions& options);

}  // namespace heddle::runtime
