// What an executable holds, and what a run of it changes.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "heddle/executable.h"
#include "heddle/placement.h"
#include "heddle/thread_pool.h"
#include "runtime/compiled.h"
#include "runtime/slots.h"
#include "runtime/step.h"

namespace heddle {

namespace runtime {
struct RankState;
}

class ExecutableState {
 public:
  using Slot = runtime::Slot;
  using SlotId = runtime::SlotId;

  runtime::CompiledProgram compiled;
  std::int64_t memory_limit = INT64_MAX;
  Placement placement = Placement::on_one_device({}, {});
  runtime::StepList steps;
  std::vector<StepInfo> infos;
  std::vector<Slot> slots;
  std::vector<SlotId> outputs;
  std::vector<Type> output_types, argument_types;
  std::vector<Array> constants;
  PeakMemory peak;

  std::int64_t arena_bytes = 0, scratch_stride = 0;
  std::size_t pointers = 0, collectives = 0;  // that a run needs room for

  // The memory of a rank, made on first use.
  runtime::RankState& of_rank(int rank);
  // The same for the same program on every machine.
  std::uint64_t fingerprint();

 private:
  std::mutex mutex_;
  std::map<int, std::unique_ptr<runtime::RankState>> ranks_;
  runtime::RankState* first_ = nullptr;  // rank 0, the only one of most runs
  std::optional<std::uint64_t> fingerprint_;
};

namespace runtime {

// What collectives have been resolved for.
struct ResolvedFor {
  std::uint64_t transport = 0;
  std::int64_t replicas = 0, partitions = 0;
  friend bool operator==(const ResolvedFor&, const ResolvedFor&) = default;
};

// What the runs of one rank change; ranks run side by side.
struct RankState {
  std::mutex turn;  // one run at a time
  std::shared_ptr<Block> arena, scratch;
  std::vector<std::byte*> home;  // by slot: where it begins
  std::vector<std::byte*> now;   // by slot: after what loops have exchanged
  std::vector<void*> pointers;   // of kernels
  std::vector<ResolvedCollective> collectives;
  ResolvedFor resolved_for;
  std::vector<PendingSend> sends;
  std::unique_ptr<Transport> solo;  // of rank 0, for runs without others
};

// Runs the steps. The reason says which op failed.
Verdict run_steps(const ExecutableState& state, RankState& rank, const RunOptions& options,
                  Transport& transport, ThreadPool& pool);

}  // namespace runtime

}  // namespace heddle
