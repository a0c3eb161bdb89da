// Queue: work of one device, in order. Nothing here waits but what says so: a device of its own
// works while the host goes on, and the CPU has done the work when the call comes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "heddle/error.h"

namespace heddle {

class Block;
class Device;
class Launch;
class LibraryCall;
class LoopLaunch;
class ThreadPool;
struct TurnsDone;

// A place in a device's memory. The host must not look there, unless Device::in_host_memory().
struct DeviceAddress {
  std::uintptr_t value = 0;

  friend DeviceAddress operator+(DeviceAddress a, std::int64_t bytes) {
    return {a.value + static_cast<std::uintptr_t>(bytes)};
  }
  friend bool operator==(DeviceAddress, DeviceAddress) = default;
};

// Of memory that the device shares with the host.
inline DeviceAddress address_of(const std::byte* bytes) {
  return {reinterpret_cast<std::uintptr_t>(bytes)};
}
inline std::byte* host_pointer(DeviceAddress address) {
  return reinterpret_cast<std::byte*>(address.value);
}

// A moment of a queue: all that was on it before has been done. An empty one has passed.
class Event {
 public:
  class State {
   public:
    virtual ~State() = default;
    virtual bool done() const = 0;
    virtual Verdict wait() = 0;
  };

  Event() = default;
  explicit Event(std::shared_ptr<State> state) : state_(std::move(state)) {}

  bool done() const { return !state_ || state_->done(); }
  // Holds up the host; a reason where the work before it has failed.
  Verdict wait() const { return state_ ? state_->wait() : yes(); }
  // For queues of the device that made it.
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

// Memory of one device, and when it holds what it is to hold.
struct Buffer {
  Device* device = nullptr;
  DeviceAddress address = {};
  std::int64_t bytes = 0;
  std::shared_ptr<void> memory = {};  // goes back with the last who holds it
  Event ready = {};
};

// Work that a queue has kept, with the addresses that it had: done again at once. Only the queue
// that made it looks inside.
class Recording {
 public:
  virtual ~Recording() = default;
};

// Where a library call finds its operands and leaves its results, dense.
struct CallMemory {
  std::span<const DeviceAddress> operands, results;
  DeviceAddress workspace = {};
};

// Used by one thread at a time. A reason may come late, from any later call, and is then the
// answer of all of them: after a failure a queue does nothing more.
class Queue {
 public:
  virtual ~Queue() = default;
  virtual Device& device() = 0;

  // Memory for what comes to this queue, which may have been another's until now: nobody else looks
  // at it before an event of this queue.
  virtual Expected<Buffer> allocate(std::int64_t bytes);

  // Launches and calls are made by the same device. `slots` is the table of addresses that the
  // launch was prepared for; it may change as soon as the call comes back.
  virtual Verdict launch(const Launch& launch, const DeviceAddress* slots) = 0;
  // Some blocks of a launch of one kernel of one phase, for who computes in chunks.
  virtual Verdict launch_blocks(const Launch&, const DeviceAddress* /*slots*/,
                                std::int64_t /*first*/, std::int64_t /*end*/) {
    return reason("this queue launches whole kernels");
  }
  // At most so many turns of a loop that is ready.
  virtual Expected<TurnsDone> turns(const LoopLaunch& loop, const DeviceAddress* slots,
                                    std::int64_t most);
  virtual Verdict call(const LibraryCall& call, const CallMemory& memory) = 0;

  virtual Verdict copy(DeviceAddress from, DeviceAddress to, std::int64_t bytes) = 0;
  // From the host. The bytes stay as they are until this has been done, held by `keep` or by the
  // caller.
  virtual Verdict write(std::span<const std::byte> from, DeviceAddress to,
                        std::shared_ptr<const void> keep) = 0;
  // To the host, which may look after an event that comes later, or finish().
  virtual Verdict read(DeviceAddress from, std::span<std::byte> to) = 0;
  virtual Verdict zero(DeviceAddress at, std::int64_t bytes) = 0;

  // Whether work can be kept: launches, library calls that say so, copies and zeros between
  // begin_recording() and end_recording() are then not done but kept. Where that fails, the queue
  // is as it was before. What was kept is done by replay(), as often as wanted.
  virtual bool can_record() const { return false; }
  virtual Verdict begin_recording() { return reason("this queue keeps no work"); }
  virtual Expected<std::shared_ptr<const Recording>> end_recording() {
    return reason("this queue keeps no work");
  }
  virtual Verdict replay(const Recording&) { return reason("this queue keeps no work"); }

  virtual Event record() = 0;
  // What comes to this queue from now on waits for an event of any queue of the device.
  virtual Verdict wait(const Event& event) = 0;
  // Holds up the host until all has been done.
  virtual Verdict finish() = 0;

  // ---- streams of other libraries, by the number that they have for them; DLPack's are such ones
  // What others call this queue; 0 where they cannot.
  virtual std::uintptr_t stream_number() const { return 0; }
  // What comes to a stream of theirs from now on finds all that is on this queue done, and the
  // other way round. Where there are no such streams, the host waits.
  virtual Verdict go_before(std::uintptr_t stream);
  virtual Verdict come_after(std::uintptr_t stream);

  // Host threads that its work may take, for devices that take any.
  virtual void set_workers(ThreadPool& workers) { (void)workers; }
};

// read() and finish().
Verdict read_now(Queue& queue, DeviceAddress from, std::span<std::byte> to);

}  // namespace heddle
