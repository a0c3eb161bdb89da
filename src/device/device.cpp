#include "heddle/device.h"

#include "heddle/loop_work.h"

namespace heddle {

std::unique_ptr<LoopLaunch> Device::prepare_loop(LoopWork, const std::vector<std::int64_t>&) {
  return nullptr;
}

Expected<TurnsDone> Queue::turns(const LoopLaunch&, const DeviceAddress*, std::int64_t) {
  return reason("this queue does loops step by step");
}

Expected<Buffer> Queue::allocate(std::int64_t bytes) { return device().allocate(bytes); }

Verdict Queue::go_before(std::uintptr_t) { return finish(); }
Verdict Queue::come_after(std::uintptr_t) { return yes(); }

Verdict read_now(Queue& queue, DeviceAddress from, std::span<std::byte> to) {
  HEDDLE_TRY_VOID(queue.read(from, to));
  return queue.finish();
}

Expected<Buffer> to_device(Queue& queue, const Array& array) {
  Device& device = queue.device();
  const auto bytes = array.bytes();
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % Block::kAlignment == 0;
  if (device.in_host_memory() && aligned && !bytes.empty()) return buffer_of(device, array.block());
  HEDDLE_TRY(Buffer buffer, device.allocate(static_cast<std::int64_t>(bytes.size())));
  if (!bytes.empty()) HEDDLE_TRY_VOID(queue.write(bytes, buffer.address, array.block()));
  buffer.ready = queue.record();
  return buffer;
}

Expected<Array> to_host(Queue& queue, const Buffer& buffer, const Type& type) {
  if (buffer.bytes < type.bytes())
    return reason("a buffer of {} bytes holds no {}", buffer.bytes, type.str());
  HEDDLE_TRY_VOID(queue.wait(buffer.ready));
  if (queue.device().in_host_memory() && type.bytes() > 0) {
    HEDDLE_TRY_VOID(queue.finish());
    return Array(type, block_of(buffer));
  }
  auto block = Block::raw(static_cast<std::size_t>(type.bytes()));
  HEDDLE_TRY_VOID(read_now(queue, buffer.address, {block->data(), block->size()}));
  return Array(type, std::move(block));
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
