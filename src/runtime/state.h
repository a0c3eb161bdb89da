// What an executable holds, and what a run of it changes.
#pragma once

#include <mutex>

#include "heddle/executable.h"
#include "runtime/compiled.h"
#include "runtime/slots.h"
#include "runtime/step.h"

namespace heddle {

class ExecutableState {
 public:
  using Slot = runtime::Slot;
  using SlotId = runtime::SlotId;

  runtime::CompiledProgram compiled;
  std::int64_t memory_limit = INT64_MAX;
  runtime::StepList steps;
  std::vector<StepInfo> infos;
  std::vector<Slot> slots;
  std::vector<SlotId> outputs;
  std::vector<Type> output_types, argument_types;
  std::vector<Array> constants;
  std::int64_t peak_bytes = 0;

  std::int64_t arena_bytes = 0, scratch_stride = 0;
  std::shared_ptr<Block> arena, scratch;  // made by the first run

  // ---- of the run that is under way
  std::mutex turn;
  std::vector<std::byte*> home;  // by slot: where it begins
  std::vector<std::byte*> now;   // by slot: after what loops have exchanged
};

namespace runtime {

// Runs a list of steps. The reason says which op failed.
Verdict run_steps(ExecutableState& state, const StepList& list, const RunOptions& options);

}  // namespace runtime

}  // namespace heddle
