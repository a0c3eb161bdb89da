// Runs a kernel on memory of its own, to be timed.
#pragma once

#include "device/cuda/code.h"
#include "device/cuda/fastest.h"

namespace heddle::cuda {

// Whether ways to share a kernel's rows are timed: where it moves enough for that to be seen and
// has this share of what the program's kernels take, and HEDDLE_TIME_MAPPINGS=0 does not forbid it.
bool may_time(const Kernel& kernel, double share);

class KernelTrial {
 public:
  KernelTrial(Context& context, const Kernel& kernel)
      : context_(context), kernel_(kernel), memory_(context) {}

  // Several times, one after the other.
  Verdict run(Handle stream, const CudaCode& code);

 private:
  Verdict take(Handle stream);

  Context& context_;
  const Kernel& kernel_;
  TrialMemory memory_;
  std::vector<void*> buffers_;  // by number
};

}  // namespace heddle::cuda
