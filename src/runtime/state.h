// What an executable holds; nothing of it changes while it runs but the pool and what is made on
// first use.
#pragma once

#include <mutex>
#include <optional>

#include "heddle/executable.h"
#include "heddle/placement.h"
#include "runtime/compiled.h"
#include "runtime/run_state.h"
#include "runtime/slots.h"
#include "runtime/step.h"

namespace heddle {

class ExecutableState {
 public:
  using Slot = runtime::Slot;
  using SlotId = runtime::SlotId;

  runtime::CompiledProgram compiled;
  std::int64_t memory_limit = INT64_MAX;
  Placement placement = Placement::on_one_device({}, {});
  std::vector<Executable> later_stages;  // of a pipeline, behind this one, where all are here
  runtime::StepList steps;
  std::vector<StepInfo> infos;
  std::vector<Slot> slots;
  std::vector<SlotId> inputs, fresh;  // slots that every run gives memory: by argument; of its own
  std::vector<SlotId> outputs;
  std::vector<Type> output_types, argument_types;
  std::vector<Array> constants;
  PeakMemory peak;
  std::int64_t arena_bytes = 0;
  std::size_t stretches = 0;   // of all lists of steps
  std::vector<OpId> meetings;  // ops between devices, in the order in which they begin

  Device& device() const { return *compiled.device; }
  // Where the constants lie on the device, by number; brought there by the first run.
  Expected<const std::vector<Buffer>*> constant_buffers(Queue& queue);
  // The same on every machine for the same program whose ops between devices come in the same
  // order: only then may ranks run it together.
  std::uint64_t fingerprint();

 private:
  std::mutex mutex_;
  std::optional<std::vector<Buffer>> constant_buffers_;
  std::optional<std::uint64_t> fingerprint_;

 public:
  runtime::RunPool runs;  // last: its queues end before what they work with
};

}  // namespace heddle
