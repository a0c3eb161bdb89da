// What one run changes. Runs of one executable go on side by side, each with a state of its own,
// which waits in a pool for the next.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "heddle/device.h"
#include "heddle/executable.h"
#include "heddle/transport.h"
#include "runtime/collective.h"
#include "runtime/run_fused.h"
#include "runtime/stretch.h"

namespace heddle::runtime {

// What collectives have been resolved for.
struct ResolvedFor {
  std::uint64_t transport = 0;
  std::int64_t replicas = 0, partitions = 0;
  friend bool operator==(const ResolvedFor&, const ResolvedFor&) = default;
};

struct RunState {
  Buffer arena;
  std::vector<DeviceAddress> home;  // by slot: where it begins
  std::vector<DeviceAddress> now;   // by slot: after what loops have exchanged
  std::vector<Buffer> buffers;      // by slot: memory that was made for this run
  // What earlier runs on the device's own buffers may still work on, and until when.
  std::deque<std::pair<Event, std::vector<Buffer>>> retired;
  std::vector<DeviceAddress> of_call;  // operands and results of the library call at hand
  std::vector<ResolvedCollective> collectives;
  std::vector<CollectiveUnderWay> under_way;  // by number of the collective
  ResolvedFor resolved_for;
  std::vector<StretchMemory> stretches;  // by number
  std::vector<PendingSend> sends;
  std::unordered_map<std::size_t, FusedRun> fused;  // by number of the collective
  std::unique_ptr<Transport> solo;                  // for runs without others
  std::unique_ptr<Queue> queue;                     // ends before the memory that it works on
};

Expected<std::unique_ptr<RunState>> make_run_state(ExecutableState& state);

// States of runs that are over. There are as many as there were runs at the same time, but never
// more than a few.
class RunPool {
 public:
  // One that has run with this transport (0: alone) where there is one, else any; null where there
  // is none.
  std::unique_ptr<RunState> take(std::uint64_t transport);
  void give_back(std::unique_ptr<RunState> run);
  void clear();
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<RunState>> idle_;
};

// Runs the steps. The reason says which op failed.
Verdict run_steps(const ExecutableState& state, RunState& run, const RunOptions& options,
                  Transport& transport);

}  // namespace heddle::runtime
