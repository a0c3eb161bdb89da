// The GPU that tests run on.
#pragma once

#include <gtest/gtest.h>

#include "../unit/nvrtc_environment.h"
#include "device/cpu/device.h"
#include "device/cuda/device.h"
#include "device/lazy_code.h"

namespace heddle::gpu {

// A reason where there is none, or nothing that compiles for it.
inline const Expected<CudaDevice*>& device() {
  static const Expected<CudaDevice*> found = []() -> Expected<CudaDevice*> {
    use_build_environment();
    static CpuDevice host;
    static Expected<std::unique_ptr<CudaDevice>> opened = CudaDevice::open(0, host);
    if (!opened) return opened.why();
    HEDDLE_TRY_VOID((*opened)->can_compile());
    return opened->get();
  }();
  return found;
}

// Compiles a kernel, copies its inputs there, runs it and copies its outputs back. `buffers` as for
// interpret().
inline Verdict run_kernel(Device& device, const Kernel& kernel,
                          std::span<const std::span<std::byte>> buffers) {
  HEDDLE_TRY_VOID(verify(kernel));
  HEDDLE_TRY(auto code, device.compile(kernel));
  LaunchKernel launch{.kernel = kernel, .code = std::make_shared<LazyCode>(std::move(code))};
  const auto queue = device.queue();
  std::vector<Buffer> memory;
  std::vector<DeviceAddress> slots;
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
    const KernelBuffer& buffer = kernel.buffers[b];
    launch.shift.push_back(0);
    launch.slots.push_back(buffer.reach == Reach::block ? kNone
                                                        : static_cast<std::uint32_t>(slots.size()));
    if (buffer.reach == Reach::block) continue;
    const std::int64_t bytes = buffer.elements * byte_size(buffer.dtype);
    HEDDLE_TRY(Buffer made, device.allocate(bytes));
    // What nobody has written is no number.
    const auto garbage =
        Block::copy_of(std::vector<std::byte>(static_cast<std::size_t>(bytes), std::byte{0xff}));
    HEDDLE_TRY_VOID(queue->write({garbage->data(), garbage->size()}, made.address, garbage));
    if (buffer.reach == Reach::input)
      HEDDLE_TRY_VOID(queue->write(buffers[b], made.address, nullptr));
    slots.push_back(made.address);
    memory.push_back(std::move(made));
  }
  std::vector<LaunchKernel> one;
  one.push_back(launch);
  HEDDLE_TRY(const auto prepared, device.prepare(std::move(one)));
  HEDDLE_TRY_VOID(queue->launch(*prepared, slots.data()));
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b)
    if (kernel.buffers[b].reach == Reach::output)
      HEDDLE_TRY_VOID(queue->read(slots[launch.slots[b]], buffers[b]));
  return queue->finish();
}

}  // namespace heddle::gpu
