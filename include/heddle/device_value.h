// DeviceValue: a tensor where it lies, as an array in host memory or in memory of a device.
#pragma once

#include <variant>

#include "heddle/array.h"
#include "heddle/queue.h"

namespace heddle {

class DeviceValue {
 public:
  DeviceValue() = default;
  DeviceValue(Array array) : held_(std::move(array)) {}  // NOLINT: an array is a value as it is
  DeviceValue(Type type, Buffer buffer) : held_(There{std::move(type), std::move(buffer)}) {}

  bool in_host_memory() const { return std::holds_alternative<Array>(held_); }
  const Type& type() const {
    return in_host_memory() ? array().type() : std::get<There>(held_).type;
  }
  // Only in host memory.
  const Array& array() const { return std::get<Array>(held_); }
  Array take_array() { return std::get<Array>(std::move(held_)); }
  // Only elsewhere.
  const Buffer& buffer() const { return std::get<There>(held_).buffer; }
  Buffer take_buffer() { return std::get<There>(std::move(held_)).buffer; }

  // After which it holds what it is to hold.
  Event ready() const { return in_host_memory() ? Event() : buffer().ready; }

 private:
  struct There {
    Type type;
    Buffer buffer;
  };
  std::variant<Array, There> held_;
};

// The value in memory of the queue's device, as it lies where it is there already. One of another
// device is a mistake.
Expected<DeviceValue> to_device(Queue& queue, DeviceValue value);
// Back again, by a queue of the device that it lies on; waits until it is there.
Expected<Array> to_host(Queue& queue, const DeviceValue& value);

}  // namespace heddle
