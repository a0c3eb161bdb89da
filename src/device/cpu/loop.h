// Loops of small kernels as functions of their own.
#pragma once

#include <atomic>
#include <mutex>

#include "device/cpu/jit.h"
#include "device/cpu/loop_text.h"

namespace heddle::cpu {

class CpuLoop final : public LoopLaunch {
 public:
  CpuLoop(CpuJit& jit, LoopWork work, const std::vector<std::int64_t>& slot_bytes);

  bool is_ready() const override { return code_.load(std::memory_order_acquire) != nullptr; }
  void count(std::int64_t turns) override;
  std::int64_t turns_at_once() const override { return turns_at_once_; }
  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& moved() const override {
    return text_.moved;
  }

  // ---- once it is ready
  std::size_t pointers() const { return text_.slots.size() + 1; }
  std::int64_t scratch_bytes() const { return text_.scratch_bytes; }
  TurnsDone run(const DeviceAddress* slots, void** pointers, std::byte* scratch,
                std::int64_t most) const;

 private:
  void make_ready();
  Expected<std::shared_ptr<const CpuKernel>> make();

  CpuJit& jit_;
  const LoopWork work_;
  const std::vector<std::int64_t> slot_bytes_;
  std::int64_t turns_at_once_ = 1;
  std::atomic<std::int64_t> turns_ = 0;
  std::once_flag made_;
  LoopText text_;  // written before code_ is
  std::shared_ptr<const CpuKernel> kept_;
  std::atomic<PhaseFunction> code_ = nullptr;
};

// Null where its turns are not so small that the way from step to step counts.
std::unique_ptr<LoopLaunch> prepare_loop(CpuJit& jit, LoopWork work,
                                         const std::vector<std::int64_t>& slot_bytes);

}  // namespace heddle::cpu
