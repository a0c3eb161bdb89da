// Ranks that are processes with a GPU each.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "heddle/device.h"
#include "heddle/transport.h"

namespace heddle {

// "cuda" on a machine with several GPUs is another one for every rank there, "cuda:2"; other names
// stay.
std::string device_of_rank(std::string_view name, int rank);

// Ranks whose collectives in a device's memory the devices do themselves, by NCCL; `ranks` as they
// are where that cannot be, as where two of them share a GPU. All ranks call it together.
std::unique_ptr<Transport> with_device_collectives(std::unique_ptr<Transport> ranks,
                                                   Device& device);

}  // namespace heddle
