// Collectives in the memory of GPUs by NCCL, over another transport that brings the ranks together,
// carries what lies in host memory, and watches over them.
#pragma once

#include <filesystem>
#include <memory>

#include "heddle/device.h"
#include "heddle/transport.h"

namespace heddle::comm {

// `ranks` themselves where NCCL cannot serve all of them, as where two share a GPU; all of them
// call it together. Sums are then in NCCL's order, the same in every run on the same ranks.
std::unique_ptr<Transport> nccl_over(std::unique_ptr<Transport> ranks, Device& device,
                                     const std::vector<std::filesystem::path>& candidates);

}  // namespace heddle::comm
