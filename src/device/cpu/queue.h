// The CPU's queue: the calling thread and the workers do everything at once, so that nothing ever
// waits.
#pragma once

#include "device/cpu/launch.h"

namespace heddle::cpu {

class CpuQueue final : public Queue {
 public:
  explicit CpuQueue(Device& device);

  Device& device() override { return device_; }
  Verdict launch(const Launch& launch, const DeviceAddress* slots) override;
  Verdict launch_blocks(const Launch& launch, const DeviceAddress* slots, std::int64_t first,
                        std::int64_t end) override;
  Expected<TurnsDone> turns(const LoopLaunch& loop, const DeviceAddress* slots,
                            std::int64_t most) override;
  Verdict call(const heddle::LibraryCall& call, const CallMemory& memory) override;
  Verdict copy(DeviceAddress from, DeviceAddress to, std::int64_t bytes) override;
  Verdict write(std::span<const std::byte> from, DeviceAddress to,
                std::shared_ptr<const void> keep) override;
  Verdict read(DeviceAddress from, std::span<std::byte> to) override;
  Verdict zero(DeviceAddress at, std::int64_t bytes) override;
  Event record() override { return {}; }
  Verdict wait(const Event& event) override { return event.wait(); }
  Verdict finish() override { return yes(); }
  void set_workers(ThreadPool& workers) override { pool_ = &workers; }

 private:
  CpuLaunch::Memory memory_for(const CpuLaunch& launch, const DeviceAddress* slots);

  Device& device_;
  ThreadPool* pool_;
  std::vector<void*> pointers_;       // of kernels
  std::vector<std::byte*> operands_;  // and results, of calls
  std::shared_ptr<Block> scratch_;    // of all workers
};

}  // namespace heddle::cpu
