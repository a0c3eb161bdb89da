// One GPU as the driver has it: its context, its memory, and the streams that work on it.
#pragma once

#include <memory>

#include "device/cuda/gpu_facts.h"
#include "device/cuda/memory.h"
#include "device/cuda/staging.h"

namespace heddle::cuda {

// A reason where a GPU is too old, or lacks what memory needs.
Verdict can_be_used(const GpuFacts& facts, int major, bool has_pools);

// Never destroyed: memory may go back when the process ends, in any order.
class Context {
 public:
  static Expected<std::shared_ptr<Context>> open(int number);

  const Driver& driver() const { return driver_; }
  const GpuFacts& facts() const { return facts_; }
  int number() const { return number_; }

  // For the calling thread; every call of the driver needs it.
  Verdict enter() const;

  // As Memory has it.
  Expected<Pointer> allocate(std::int64_t bytes, Handle stream = nullptr);
  void release(Pointer pointer, std::int64_t bytes);
  void let_go(Pointer pointer, std::int64_t bytes);
  std::int64_t live_bytes() const { return memory_.live_bytes(); }

  // Streams whose work memory has to outlast.
  struct Stream {
    Handle handle = nullptr;
    std::shared_ptr<Memory::WorkCounter> work;  // as Memory has it
  };
  Expected<Stream> add_stream();
  void remove_stream(Handle stream);

  PinnedPool& pinned() { return pinned_; }

  // Events are used again. Nobody waits for one that goes back.
  Expected<Handle> take_event();
  void give_back_event(Handle event);

 private:
  Context(const Driver& driver, int number)
      : driver_(driver), number_(number), memory_(driver), pinned_(driver) {}
  Verdict read_facts(int device);

  const Driver& driver_;
  const int number_;
  GpuFacts facts_;
  Handle context_ = nullptr;
  Memory memory_;
  PinnedPool pinned_;
  std::mutex mutex_;
  std::vector<Handle> spare_events_;
};

}  // namespace heddle::cuda
