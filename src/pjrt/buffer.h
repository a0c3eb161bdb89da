// Buffers: arrays that may still be on their way.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "heddle/device_value.h"
#include "pjrt/client.h"
#include "pjrt/event.h"

namespace heddle::pjrt {

// What a buffer holds; shared with the work that reads it, and so may outlive the buffer.
class BufferValue {
 public:
  // Not there yet. It has begun when it is known where it will lie, so that work of the device can
  // come behind it; where that works in host memory, this is when it is ready.
  BufferValue(Type type, const DeviceHandle& device, EventRef ready, EventRef begun)
      : type_(std::move(type)),
        ready_(std::move(ready)),
        begun_(std::move(begun)),
        use_(device.use),
        queues_(device.queues) {
    use_->add(type_.bytes());
  }
  ~BufferValue() { use_->remove(type_.bytes()); }
  BufferValue(const BufferValue&) = delete;
  BufferValue& operator=(const BufferValue&) = delete;

  const Type& type() const { return type_; }
  const EventRef& ready() const { return ready_; }
  const EventRef& begun() const { return begun_; }
  // Only where it has begun, and well.
  const DeviceValue& value() const { return value_; }
  // Only where it is ready, and well: in host memory, copied there where it lies elsewhere.
  Array host() const;
  // So many bytes of it.
  void read(std::int64_t offset, std::span<std::byte> to) const;
  // Before the events are set. `owner` holds memory that the value only looks at.
  void fill(DeviceValue value, std::shared_ptr<void> owner = nullptr) {
    value_ = std::move(value);
    owner_ = std::move(owner);
  }
  const std::shared_ptr<void>& owner() const { return owner_; }
  // The value for a run that may overwrite it; this one is of no use any more.
  DeviceValue take() { return std::move(value_); }

 private:
  Type type_;
  EventRef ready_, begun_;
  DeviceValue value_;
  std::shared_ptr<void> owner_;
  std::shared_ptr<MemoryUse> use_;
  std::shared_ptr<SpareQueues> queues_;
};

using ValueRef = std::shared_ptr<BufferValue>;

struct BufferHandle {
  BufferHandle(Memory& where, ValueRef what)
      : memory(&where), type(what->type()), value_(std::move(what)) {}

  Memory* memory;
  const Type type;
  std::string layout = {};  // that is told of it; empty: row-major

  bool is_deleted() const;
  // A Failure where it was deleted or donated.
  ValueRef value() const;
  // Nobody gets it from this buffer any more.
  void remove();
  // Memory that others look at stays until all of them have let go, deleted or not.
  void hold();
  bool let_go();
  // Where the bytes of this value, which is the buffer's, lie for the host as the layout tells: in
  // memory of their own where that is not row-major, or where the host cannot reach them. Both stay
  // as long as the value does, or is held.
  void* address(const BufferValue& value);

 private:
  mutable std::mutex mutex_;
  ValueRef value_, held_;
  std::optional<Array> ordered_;  // the bytes as the layout tells, once somebody has asked
  int holders_ = 0;
};

// Where a buffer is to lie: the memory, or the default one of the device.
Memory& place_of(Memory* memory, DeviceHandle* device);

BufferHandle* new_buffer(Memory& memory, ValueRef value);
ValueRef new_value(Memory& memory, Type type, EventRef ready, EventRef begun = nullptr);
// One that is there, in the memory's own.
ValueRef value_of(Memory& memory, Array array, std::shared_ptr<void> owner = nullptr);

// The value in this memory; from host memory to a device and back it is copied before this comes
// back.
DeviceValue placed_in(const Memory& memory, DeviceValue value);

// The caller's array, looked at as it lies where that is allowed and possible; else copied. `done`
// is set when the caller's memory is not needed any more.
ValueRef value_from_host(Memory& memory, const FromHostArgs& args, const EventRef& done);
// The value in the caller's memory, dimensions in the order that the layout says.
void copy_to_host(const BufferValue& value, const MemoryLayout* layout, void* to, std::size_t size);
// The same value somewhere else. In another memory it may share its bytes, which nobody overwrites
// while two look at them; a copy in one and the same memory is asked for to have bytes of its own.
ValueRef copy_to(Memory& memory, const BufferHandle& buffer);

// Where the bytes lie; some address also where there are none.
void* address_of(const Array& array);

}  // namespace heddle::pjrt
