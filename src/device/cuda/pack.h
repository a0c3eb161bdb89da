// Many kernels as one launch, so that small tensors do not cost a launch each.
#pragma once

#include "device/cuda/code.h"

namespace heddle::cuda {

class CudaPack {
 public:
  // Which of the kernels a launch may run together, in as many packs as their pointers need.
  static std::vector<std::vector<std::size_t>> chosen(const std::vector<LaunchKernel>& kernels,
                                                      const CudaLimits& limits);

  // `numbers` are those of the launch's kernels that it runs.
  CudaPack(const std::vector<LaunchKernel>& kernels, std::vector<std::size_t> numbers,
           const CudaLimits& limits);

  const std::string& text() const { return text_; }
  Verdict load(const std::shared_ptr<Context>& context, const std::string& object);
  Verdict launch(Handle stream, const std::vector<LaunchKernel>& kernels,
                 const DeviceAddress* slots) const;

 private:
  std::vector<std::size_t> numbers_;
  std::vector<unsigned> first_, kernel_;  // by entry: its first block, and which text it is
  std::size_t pointers_ = 0;              // of an entry
  unsigned grid_ = 0;
  int threads_ = 0;
  std::string text_;
  std::shared_ptr<const CudaCode> code_;
};

}  // namespace heddle::cuda
