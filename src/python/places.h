// Values of Python on devices whose memory is not the host's.
#pragma once

#include "device/spare_queues.h"
#include "heddle/device_value.h"

namespace heddle::python {

// Queues for copies to and from a device. Devices live as long as the process does.
SpareQueues& queues_of(Device& device);

// In the device's memory when it comes back, so that the host's may change; as it lies where the
// device works in host memory.
DeviceValue upload(Device& device, DeviceValue value);
// In host memory when it comes back.
Array download(const DeviceValue& value);

}  // namespace heddle::python
