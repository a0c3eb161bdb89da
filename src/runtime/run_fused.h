// One rank's part of a collective with a kernel inside.
#pragma once

#include <optional>
#include <unordered_map>

#include "comm/run_chunks.h"
#include "heddle/device.h"
#include "heddle/executable.h"
#include "runtime/collective.h"

namespace heddle::runtime {

struct FusedStep;
struct RunState;

// What a fused step keeps from run to run.
struct FusedRun {
  std::optional<comm::ChunkRunner> runner;
  // Chunks of sums, used again and again; all of them where a norm or other ranks need them.
  std::shared_ptr<Block> sums;
  std::int64_t sums_begin = 0;     // where they are kept, so that the own slice is aligned
  std::shared_ptr<Block> made;     // results whose place is not aligned
  std::shared_ptr<Block> numbers;  // of a norm, by rank
  std::vector<int> order;          // in which ranks are summed
  int slots_of_lane = 1;           // chunks of sums that a lane has room for
  std::unordered_map<std::int64_t, std::size_t> place;  // of a chunk of sums, by its first element
  std::int64_t largest = 0;                             // bytes of such a chunk
  std::shared_ptr<Block> workspace;                     // of products
  std::vector<DeviceAddress> slots;                     // of the launch
  // On a device of its own. Null: one by one.
  std::unique_ptr<ChunkLaunch> launch;
  std::optional<chunks::ChunkProgram> program;
  std::vector<Buffer>
      memory;  // of the first rank slots and flags of all; sums, where they are kept
  std::uint64_t turn = 0;
  bool asked = false;  // whether the device can
};

// The chunk program of its group, not proved yet.
Expected<chunks::ChunkProgram> fused_program(const FusedStep& step, const Transport& transport,
                                             const ResolvedCollective& resolved, FusedRun& kept);
// On a device of its own, for a group that is known.
Verdict run_fused_on_device(const FusedStep& step, RunState& run, FusedRun& kept,
                            const ResolvedCollective& resolved, Transport& transport,
                            const RunOptions& options);

Verdict run_fused(const FusedStep& step, RunState& run, Transport& transport,
                  const RunOptions& options);

}  // namespace heddle::runtime
