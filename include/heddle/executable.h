// Executable: what one device does for a program. Steps over buffers whose places are known before
// anything runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/array.h"
#include "heddle/device_value.h"
#include "heddle/error.h"
#include "heddle/host_call.h"
#include "heddle/queue.h"
#include "heddle/step_work.h"

namespace heddle {

class ThreadPool;
class TraceRecorder;
class Transport;

// One step, for people and reports.
struct StepInfo {
  std::string kind = {};  // kernel, library, reference, copy, collective, while, if, case
  std::string name = {};
  std::string ops = {};  // that it computes, in order: "exp, add"; shortened where they are many
  std::size_t op_count = 0;
  std::string where = {};                 // the first of them stands
  std::vector<std::string> from = {};     // the first lines of the user's: "model.py:57"
  std::string note = {};                  // why it begins or ends here
  std::vector<std::string> because = {};  // where that was asked for: why it is as it is
  std::int64_t bytes_read = 0, bytes_written = 0;
  std::int64_t bytes_apart = 0;  // that its ops would read and write one by one
  std::size_t kernels = 0;       // in one launch
  double expected_seconds = 0;   // of the launch by the cost model; 0 where that says nothing
  int depth = 0;                 // of loops and branches around it
};

// What steps have cost, one each, in the order of steps().
struct StepTime {
  std::int64_t calls = 0;
  double seconds = 0;
};

// Who sends on a channel, and who receives there.
struct ChannelEnds {
  std::int64_t channel = 0;
  int from = 0, to = 0;
};

struct RunOptions {
  // A span per step.
  TraceRecorder* trace = nullptr;
  // Adds up what every step takes; grows to the number of steps.
  std::vector<StepTime>* times = nullptr;
  // Where interpreter.print writes; stdout where there is none.
  std::function<void(std::string_view)> print = {};
  // Answers calls into Python and the like; such a call is an error where there is none.
  HostCaller host_call = {};
  // The ranks that run the same program, this one among them; none: this one is alone. Every rank
  // runs with a transport of its own, as replicas of equally many partitions, partitions counting
  // fastest. With fewer partitions than there are ranks for, only the first ranks run.
  Transport* transport = nullptr;
  std::int64_t replicas = 1, partitions = 0;  // 0: as many as there are ranks for
  // Whether ranks compare their programs before the first run. Not so where they differ on purpose.
  bool same_program = true;
  // For sends and receives that do not say who takes part.
  std::vector<ChannelEnds> channels = {};
  // The ranks of each stage of a pipeline: those of a stage run one program, in which they are
  // partitions; channels go from stage to stage, between ranks at the same place. None: one program
  // for all ranks.
  std::vector<std::vector<int>> stages = {};
  // Workers of this rank; the shared ones where there are none.
  ThreadPool* pool = nullptr;
  // Where a run fails: its arguments, but those that steps may have written to by then. Stays as it
  // is where nobody knows them any more.
  std::vector<std::optional<DeviceValue>>* left = nullptr;
  // Asked between steps, by the thread that called: yes ends the run, of all ranks, with a reason.
  std::function<bool()> stop = {};
};

// The most memory that values take at a time, results included and arguments not.
struct PeakMemory {
  std::int64_t bytes = 0;
  std::string where;                 // the largest of them is computed
  std::vector<std::string> largest;  // lines: "64.0 MB  tensor<4096x4096xf32>  exp at f.mlir:3:5"
};

class ExecutableState;
class Placement;

class Executable {
 public:
  explicit Executable(std::shared_ptr<ExecutableState> state) : state_(std::move(state)) {}
  // The stages of a pipeline as one.
  static Executable together(std::vector<Executable> stages);

  // The results, in memory of their own. Arguments that were donated when the program was compiled,
  // and that nobody else holds, may be overwritten. May be called from several threads at once:
  // runs go on side by side, each in memory of its own, and none waits for another. Only runs over
  // one and the same transport take turns.
  Expected<std::vector<Array>> run(std::vector<Array> arguments,
                                   const RunOptions& options = {}) const;

  // The same in memory of the program's device, without a wait where the device has queues of its
  // own: results are there when their `ready` says so, and may be the arguments of the next run.
  // Donated arguments are overwritten, whoever else holds them, and may come back as results.
  Expected<std::vector<Buffer>> run_on_device(std::vector<Buffer> arguments,
                                              const RunOptions& options = {}) const;
  // The same with each value where it lies: arrays go to the device, results are where it works.
  // Donated arguments that somebody else holds are copied, as run() does.
  Expected<std::vector<DeviceValue>> run_values(std::vector<DeviceValue> arguments,
                                                const RunOptions& options = {}) const;
  // Whether arguments and results are arrays: its device works in host memory.
  bool in_host_memory() const;
  // What it was compiled for.
  Device& device() const;

  // Waits until all machine code is there, where it is made in the background; a reason where some
  // could not be made, so that its kernel stays interpreted.
  Verdict finish_compiling() const;

  // In the order in which they run; those inside of a loop or branch after it.
  const std::vector<StepInfo>& steps() const;
  // What they do, counted, for the cost model; those inside of a loop or branch in it. A loop whose
  // text does not say how often it runs is counted ten times.
  std::vector<StepWork> step_work() const;
  std::int64_t peak_bytes() const { return peak().bytes; }
  const PeakMemory& peak() const;
  // Gives back the memory that is kept for the next run; one that goes on keeps its own.
  void drop_spare_memory() const;
  // Where arguments and results lie.
  const Placement& placement() const;
  // What each stage of a pipeline does: this is the first of them, or that of this rank alone. Else
  // only this.
  std::vector<Executable> stages() const;
  // A number for what it does: equal programs have equal ones, on every machine.
  std::uint64_t fingerprint() const;
  // What a device does, as it was compiled: after simplifying, before ops became kernels.
  const Program& program() const;
  // Why the whole program is left to the interpreter; empty where it is compiled.
  const std::string& interpreted_because() const;

 private:
  std::shared_ptr<ExecutableState> state_;
};

}  // namespace heddle
