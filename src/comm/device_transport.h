// Collectives among ranks that are threads of one process and share a device: they read each
// other's memory there, ordered by events, and the host only says where it is.
#pragma once

#include <memory>
#include <vector>

#include "heddle/transport.h"

namespace heddle::comm {

// In front of all transports of one process, which are for the same ranks. Sums have the same bits
// as theirs. What lies in host memory, and what the device's queues cannot do (device/moves.h),
// goes their way.
std::vector<std::unique_ptr<Transport>> on_shared_device(
    std::vector<std::unique_ptr<Transport>> ranks);

}  // namespace heddle::comm
