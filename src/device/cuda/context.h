// One GPU as the driver has it: its context, its memory, and the streams that work on it.
#pragma once

#include <memory>

#include "device/cuda/gpu_facts.h"
#include "device/cuda/memory.h"

namespace heddle::cuda {

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
  std::int64_t live_bytes() const { return memory_.live_bytes(); }

  // Streams whose work memory has to outlast.
  Expected<Handle> add_stream();
  void remove_stream(Handle stream);

 private:
  Context(const Driver& driver, int number) : driver_(driver), number_(number), memory_(driver) {}
  Verdict read_facts(int device);

  const Driver& driver_;
  const int number_;
  GpuFacts facts_;
  Handle context_ = nullptr;
  Memory memory_;
};

}  // namespace heddle::cuda
