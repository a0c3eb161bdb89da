// Launches of kernels on the thread pool.
#pragma once

#include "heddle/thread_pool.h"
#include "runtime/step.h"

namespace heddle::runtime {

// Deals the blocks of all phases out; once, before any run.
void plan_launch(LaunchStep& launch, int threads = ThreadPool::shared().threads());

// Memory of a run.
struct LaunchMemory {
  std::byte* const* slots = nullptr;
  std::byte* scratch = nullptr;  // of worker 0; the next one's lies scratch_stride further
  std::int64_t scratch_stride = 0;
  void** pointers = nullptr;  // room for those of all kernels
};
Verdict run_launch(const LaunchStep& launch, const LaunchMemory& memory, ThreadPool& pool);

}  // namespace heddle::runtime
