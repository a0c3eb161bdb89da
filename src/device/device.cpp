#include "heddle/device.h"

namespace heddle {

Verdict read_now(Queue& queue, DeviceAddress from, std::span<std::byte> to) {
  HEDDLE_TRY_VOID(queue.read(from, to));
  return queue.finish();
}

Buffer buffer_of(Device& device, std::shared_ptr<Block> block) {
  return {.device = &device,
          .address = address_of(block->data()),
          .bytes = static_cast<std::int64_t>(block->size()),
          .memory = std::move(block)};
}

std::shared_ptr<Block> block_of(const Buffer& buffer) {
  HEDDLE_CHECK(buffer.device->in_host_memory(), "{} keeps no blocks", buffer.device->name());
  return std::static_pointer_cast<Block>(buffer.memory);
}

}  // namespace heddle
