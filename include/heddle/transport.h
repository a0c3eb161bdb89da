// Transport: how the ranks of a run exchange data. One small interface; threads of one process,
// processes of one machine and MPI ranks are behind it, and streams of a GPU or NCCL fit too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heddle/block.h"
#include "heddle/collective_kind.h"
#include "heddle/dtype.h"
#include "heddle/error.h"
#include "heddle/layout.h"
#include "heddle/queue.h"

namespace heddle {

// A buffer of equal pieces, one per member, as a tensor is cut along a dimension: piece k is `runs`
// runs of `run_bytes`, the first one k * run_bytes in, each a whole row of pieces after the last.
struct Pieces {
  std::int64_t runs = 1, run_bytes = 0;
  std::int64_t bytes() const { return runs * run_bytes; }  // of one piece
  friend bool operator==(const Pieces&, const Pieces&) = default;
};

struct SendPart {
  const std::byte* data = nullptr;
  std::int64_t bytes = 0;
};
struct ReceivePart {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

using GroupId = std::uint32_t;
using RequestId = std::uint64_t;

// What one rank does in a collective. All members of the group start theirs in the same order.
struct Collective {
  CollectiveKind kind = CollectiveKind::barrier;
  GroupId group = 0;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;  // all_reduce: may be `in`; else apart from it
  // all_gather: in is one dense piece. reduce_scatter: out is. all_to_all: both are cut.
  // all_reduce, permute, broadcast, send and receive: one dense piece, in `in_pieces`.
  Pieces in_pieces = {}, out_pieces = {};
  DType dtype = DType::f32;  // of reductions
  ReduceOp reduce = ReduceOp::sum;
  // Places of members in the group. broadcast: `from` is the root. permute: whose buffer comes here
  // (-1: none, the result is zeros) and who gets this one (-1: nobody). receive: `from`, and where
  // `in` is there what comes is combined with it; send: `to`.
  int from = -1, to = -1;
  std::span<const SendPart> sends = {};  // exchange: one each per member
  std::span<const ReceivePart> receives = {};
  // For messages: "all_reduce at f.mlir:3:5 (step 41)". Must stay until the collective is over.
  std::string_view what = {};
};

// What one rank holds. Nothing hangs: where a rank ends, dies or stalls, the waits of all others
// come back with a reason that names it, and so does every later call.
//
// Sums are taken in the order of the ranks, so that the same program on the same ranks gives the
// same bits every time, and the same ones on every transport.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;  // threads, processes, mpi
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Another number for every transport of the process.
  std::uint64_t id() const { return id_; }

  // A group that this rank is in, members in the group's order. Not collective. Sends and receives
  // of one group keep their order; a channel makes another group of the same members.
  virtual Expected<GroupId> group(std::span<const int> ranks, std::int64_t channel = 0) = 0;
  // Its ranks, in the group's order.
  virtual const std::vector<int>& members(GroupId group) const = 0;
  // Begins; buffers are the transport's until the request has been waited for, or tested true.
  virtual Expected<RequestId> start(const Collective& collective) = 0;
  // Whether it is over; makes progress.
  virtual Expected<bool> test(RequestId request) = 0;
  virtual Verdict wait(RequestId request) = 0;
  // Goes on with a request while this rank computes, until it is waited for; where that is not
  // done, the wait does all.
  virtual void go_on_meanwhile(RequestId) {}
  // Nothing is done any more for requests that nobody has waited for: their buffers go.
  virtual void forget_requests() {}

  // The same in a device's memory, `in` and `out` in place of the collective's own. It begins when
  // all that is on the queue by now has been done, and what comes to the queue after wait_on()
  // finds the results. Where the host cannot reach that memory, it is staged through copies; a
  // transport that the device itself drives has a way of its own.
  virtual Expected<RequestId> start_on(Queue& queue, Collective collective, DeviceAddress in,
                                       DeviceAddress out);
  virtual Verdict wait_on(Queue& queue, RequestId request);

  // Whether all ranks share the memory of this queue's device: then they may do one piece of work
  // together. Each says what it has; the first of the group starts the work for all of them, after
  // what is on their queues by now and before what comes to these.
  virtual bool shares_device(Queue&) const { return false; }
  using StartTogether = std::function<Verdict(Queue& queue, std::span<const std::uint64_t> of_all)>;
  virtual Verdict together(Queue&, GroupId, std::span<const std::uint64_t> /*mine*/,
                           const StartTogether&, std::string_view /*what*/) {
    return reason("{} share no device", name());
  }

  // Memory that the members of a group share, for them to lay out: zeroed, and as large as who came
  // first has asked for. Null where they share none.
  virtual Expected<std::byte*> shared_room(GroupId, std::int64_t /*bytes*/) { return nullptr; }
  // Returns when `there`, which looks at such memory or tests requests and which these ranks bring
  // about; as wait() it gives a reason where they cannot any more.
  virtual Verdict wait_until(std::span<const int> ranks, const std::function<bool()>& there,
                             std::string_view what);

  // This rank has met an error: it ends the run of all others, which say so.
  virtual void abort(std::string_view why) = 0;
  // Why the run is over before its end; empty while all is well.
  virtual std::string failure() const = 0;

  // Runs of one rank over one transport go one after the other, as those of all others do.
  std::mutex& turn() { return turn_; }
  // Whether nobody has asked for this number before: programs are compared once.
  bool first_time(std::uint64_t number) { return seen_.insert(number).second; }

  // This rank begins or ends a run of a program, for the watchdog.
  virtual void enter() = 0;
  virtual void leave() = 0;
  // What this rank does now, for the watchdog: called at every step, so it has to be cheap.
  void at_step(std::uint64_t step) {
    if (step_ == nullptr) return;
    step_->store(step, std::memory_order_relaxed);
    moves_->store(moves_->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // Whether failure() has something to say.
  bool failed() const {
    return failed_ != nullptr && failed_->load(std::memory_order_relaxed) != 0;
  }

 protected:
  Transport();

  // For one that stands in front of another: its steps and its failure are the other's.
  void take_signs_of(const Transport& other);

  std::atomic<std::uint64_t>* step_ = nullptr;
  std::atomic<std::uint64_t>* moves_ = nullptr;
  const std::atomic<std::uint32_t>* failed_ = nullptr;

 private:
  // Host memory that stands for a device's while a collective is under way.
  struct Staged {
    std::shared_ptr<Block> in, out;
    DeviceAddress to = {};
  };

  std::uint64_t id_ = 0;
  std::mutex turn_;
  std::set<std::uint64_t> seen_;
  std::unordered_map<RequestId, Staged> staged_;
};

// Starts and waits.
Verdict run_collective(Transport& transport, const Collective& collective);

// Whether a reduction of this element type is one that transports do; others are a gather and a
// local reduction.
bool can_reduce(ReduceOp op, DType dtype);

struct WatchdogOptions {
  // How long a rank may give no sign, or ranks may wait for one another: half of it where a process
  // is stopped, more where it runs (docs/mesh.md). HEDDLE_WATCHDOG=seconds sets it.
  double seconds = 3;
};
WatchdogOptions default_watchdog();
Expected<double> parse_watchdog(std::string_view text);

// Devices as threads of this process, one transport for each.
std::vector<std::unique_ptr<Transport>> thread_transports(
    int devices, const WatchdogOptions& watchdog = default_watchdog());

// The transport of a process that is one of several ranks: `processes`, started by `heddle launch`;
// `mpi`, started by mpirun or under Slurm. `auto` is whichever of them has started this process; a
// null pointer where none has.
Expected<std::unique_ptr<Transport>> connect_transport(
    std::string_view kind, const WatchdogOptions& watchdog = default_watchdog());

// A run of one rank: every collective is a copy.
std::unique_ptr<Transport> solo_transport();

}  // namespace heddle
