#include "heddle/device_value.h"

#include "heddle/device.h"

namespace heddle {

Expected<DeviceValue> to_device(Queue& queue, DeviceValue value) {
  Device& device = queue.device();
  if (!value.in_host_memory()) {
    if (value.buffer().device == &device) return value;
    return reason("a value of {} was to be used on {}: bring it to the host first",
                  value.buffer().device->name(), device.name());
  }
  if (device.in_host_memory()) return value;
  Type type = value.type();
  HEDDLE_TRY(Buffer buffer, to_device(queue, value.array()));
  return DeviceValue(std::move(type), std::move(buffer));
}

Expected<Array> to_host(Queue& queue, const DeviceValue& value) {
  if (value.in_host_memory()) return value.array();
  return to_host(queue, value.buffer(), value.type());
}

}  // namespace heddle
