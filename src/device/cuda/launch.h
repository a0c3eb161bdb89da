// Kernels of one step, as they are launched on a GPU.
#pragma once

#include "device/cuda/pack.h"

namespace heddle::cuda {

class CudaLaunch final : public Launch {
 public:
  std::vector<LaunchKernel> kernels;
  std::vector<CudaPack> packs;      // run together
  std::vector<std::size_t> single;  // those that are in no pack
  std::int64_t scratch_bytes = 0;   // the most of one kernel: they run one after the other

  std::size_t starts() const override {
    std::size_t all = 0;
    for (const CudaPack& pack : packs) all += pack.phases();
    for (std::size_t number : single) all += kernels[number].kernel.phases.size();
    return all;
  }
};

}  // namespace heddle::cuda
