#include "test_device.h"

#include <algorithm>

#include "test_chunks.h"

namespace heddle::test {

TestDevice::TestDevice(Device& inner, const TestDeviceOptions& options)
    : inner_(inner), options_(options), memory_(std::make_shared<Memory>()) {
  HEDDLE_CHECK(inner.in_host_memory(), "{} cannot work in private memory", inner.name());
}

TestDevice::~TestDevice() = default;

std::size_t TestDevice::live_buffers() const { return memory_->size(); }

Expected<Buffer> TestDevice::allocate(std::int64_t bytes) {
  const DeviceAddress handle = memory_->add(bytes);
  std::shared_ptr<void> held(nullptr,
                             [memory = memory_, handle](void*) { memory->remove(handle); });
  return Buffer{.device = this, .address = handle, .bytes = bytes, .memory = std::move(held)};
}

Expected<std::unique_ptr<Launch>> TestDevice::prepare(std::vector<LaunchKernel> kernels) {
  auto launch = std::make_unique<TestLaunch>();
  for (LaunchKernel& k : kernels)
    for (std::size_t b = 0; b < k.slots.size(); ++b) {
      if (k.slots[b] == kNone) continue;
      auto known = std::ranges::find(launch->used, k.slots[b], &TestLaunch::Used::slot);
      if (known == launch->used.end())
        known = launch->used.insert(known, {.slot = k.slots[b], .bytes = 0});
      const KernelBuffer& buffer = k.kernel.buffers[b];
      known->bytes = std::max(known->bytes, k.shift[b] + buffer.elements * byte_size(buffer.dtype));
      k.slots[b] = static_cast<std::uint32_t>(known - launch->used.begin());
    }
  HEDDLE_TRY(launch->inner, inner_.prepare(std::move(kernels)));
  return std::unique_ptr<Launch>(std::move(launch));
}

Expected<std::unique_ptr<ChunkLaunch>> TestDevice::prepare_chunks(const ChunkWork& work) {
  if (chunk_refusals > 0 && chunk_refusals-- > 0) return reason("this time the device does not");
  return std::unique_ptr<ChunkLaunch>(std::make_unique<TestChunkLaunch>(*this, memory_, work));
}

std::unique_ptr<LibraryCall> TestDevice::library_call(const Program& program, const Op& op,
                                                      const ProductViews* views) const {
  auto call = inner_.library_call(program, op, views);
  return call ? std::make_unique<TestCall>(std::move(call)) : nullptr;
}

std::unique_ptr<Queue> TestDevice::queue() {
  TestDeviceOptions options = options_;
  options.seed += queues_++;  // every queue has delays of its own
  return std::make_unique<TestQueue>(*this, inner_.queue(), memory_, options);
}

}  // namespace heddle::test
