// A stream of one GPU as a queue.
#pragma once

#include "device/cuda/side_streams.h"
#include "device/moves.h"
#include "heddle/device.h"

namespace heddle {
class CudaDevice;
}

namespace heddle::cuda {

class CudaQueue;

// What the device computes beside kernels: by a library of its own, or on the host.
class CudaCall : public LibraryCall {
 public:
  virtual Verdict run(CudaQueue& queue, const CallMemory& memory) const = 0;
};

class CudaQueue final : public Queue, public DeviceMoves {
 public:
  CudaQueue(CudaDevice& device, std::shared_ptr<Context> context);
  ~CudaQueue() override;
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  Device& device() override;
  Expected<Buffer> allocate(std::int64_t bytes) override;
  Verdict launch(const Launch& launch, const DeviceAddress* slots) override;
  Verdict call(const LibraryCall& call, const CallMemory& memory) override;
  Verdict copy(DeviceAddress from, DeviceAddress to, std::int64_t bytes) override;
  Verdict write(std::span<const std::byte> from, DeviceAddress to,
                std::shared_ptr<const void> keep) override;
  Verdict read(DeviceAddress from, std::span<std::byte> to) override;
  Verdict zero(DeviceAddress at, std::int64_t bytes) override;
  // ---- for ranks on this GPU
  Verdict copy_runs(const Copy& copy) override;
  bool can_combine(ReduceOp op, DType dtype, std::size_t parts) const override;
  Verdict combine(const Combination& combination) override;
  // As a CUDA graph. It is captured on a stream of its own, which nobody else waits for.
  bool can_record() const override;
  Verdict begin_recording() override;
  Expected<std::shared_ptr<const Recording>> end_recording() override;
  Verdict replay(const Recording& recording) override;

  Event record() override;
  Verdict wait(const Event& event) override;
  Verdict finish() override;
  std::uintptr_t stream_number() const override {
    return reinterpret_cast<std::uintptr_t>(stream_);
  }
  Verdict go_before(std::uintptr_t stream) override;
  Verdict come_after(std::uintptr_t stream) override;

  // Where work goes now.
  Handle stream() const { return is_recording_ ? capture_ : stream_; }
  // Beside that; for the work of one call.
  SideStreams& sides() { return sides_; }
  Context& context() { return *context_; }

 private:
  // Calls `work` unless the queue has failed; remembers where it fails.
  template <typename Work>
  Verdict doing(Work work);
  Expected<Pointer> scratch(std::int64_t bytes);
  // What comes to `later` waits for what is on `first` now.
  Verdict order(Handle first, Handle later);

  CudaDevice& device_;
  std::shared_ptr<Context> context_;
  const Driver& driver_;
  Handle stream_ = nullptr;
  std::shared_ptr<Memory::WorkCounter> work_;  // grows before anything comes to the stream
  Handle capture_ = nullptr;                   // made when it is first needed
  bool is_recording_ = false;
  Verdict state_ = yes(), recorded_ = yes();       // of the queue; of what is being kept
  std::vector<std::shared_ptr<const void>> kept_;  // that copies may still read
  std::vector<void*> buffers_;                     // of a kernel
  Staging staging_;
  SideStreams sides_;
  Pointer scratch_ = 0;  // of kernels, which run one after the other
  std::int64_t scratch_bytes_ = 0;
  std::vector<std::pair<Pointer, std::int64_t>> old_scratch_;  // that recordings may still use
};

template <typename Work>
Verdict CudaQueue::doing(Work work) {
  Verdict& state = is_recording_ ? recorded_ : state_;
  if (!state) return state;
  if (!is_recording_) work_->fetch_add(1, std::memory_order_relaxed);
  state = context_->enter();
  if (state) state = work();
  return state;
}

}  // namespace heddle::cuda
