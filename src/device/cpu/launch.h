// Launches of kernels on the thread pool.
#pragma once

#include "device/cpu/jit.h"
#include "heddle/device.h"
#include "heddle/thread_pool.h"

namespace heddle::cpu {

// Consecutive blocks of one phase of one kernel, done by one worker.
struct LaunchPart {
  std::uint32_t kernel = 0;
  std::int64_t first = 0, last = 0, chunk = 0;
};

// Parts that run at the same time; everybody waits before the next ones.
struct LaunchPhase {
  std::uint32_t phase = 0;
  std::vector<LaunchPart> parts = {};
  bool alone = false;  // too little to wake others for
};

// A kernel with what a run needs of it.
struct PlannedKernel : LaunchKernel {
  bool large = false;  // to interpret it takes longer than to compile it
  // Of its buffers, among those of the launch; behind them the code that the run takes, none where
  // the kernel is interpreted.
  std::size_t first_pointer = 0;
};

class CpuLaunch final : public Launch {
 public:
  // Deals the blocks of all phases out to so many workers; once, before any run.
  CpuLaunch(std::vector<LaunchKernel> kernels, int threads, const VectorTarget& target = {});

  // Room that a run needs: pointers, and bytes of every worker.
  std::size_t pointers() const { return pointers_; }
  std::int64_t scratch_bytes() const { return scratch_bytes_; }

  // Memory of a run.
  struct Memory {
    const DeviceAddress* slots = nullptr;
    void** pointers = nullptr;
    std::byte* scratch = nullptr;  // of worker 0; the next one's lies scratch_stride further
    std::int64_t scratch_stride = 0;
  };
  Verdict run(const Memory& memory, ThreadPool& pool) const;
  // Blocks first to end of its only kernel, which has one phase and code.
  Verdict run_blocks(const Memory& memory, ThreadPool& pool, std::int64_t first,
                     std::int64_t end) const;
  StepWork work() const override;

  // ---- for who does it as a part of a loop
  const std::vector<PlannedKernel>& kernels() const { return kernels_; }
  // A reason where others would be woken for it, or a kernel is never compiled.
  Verdict fits_one_worker() const;
  double evaluations() const;  // of nodes

 private:
  void deal_out(std::uint32_t level, int threads);

  VectorTarget target_;
  std::vector<PlannedKernel> kernels_;
  std::vector<LaunchPhase> phases_;
  std::size_t pointers_ = 0;
  std::int64_t scratch_bytes_ = 0;
};

}  // namespace heddle::cpu
