// Many kernels as one launch for each of their phases, so that tensors do not cost launches each.
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
  std::size_t phases() const { return phases_.size(); }
  Verdict load(const std::shared_ptr<Context>& context, const std::string& object);
  Verdict launch(Handle stream, const std::vector<LaunchKernel>& kernels,
                 const DeviceAddress* slots) const;

 private:
  std::vector<std::size_t> numbers_;
  struct Phase {
    std::vector<unsigned> first = {};  // block, by entry
    unsigned grid = 0;
    int threads = 0;
  };
  std::vector<Phase> phases_;
  std::vector<unsigned> kernel_;  // by entry: which text it is
  std::size_t pointers_ = 0;      // of an entry
  std::string text_;
  std::shared_ptr<const CudaCode> code_;
};

}  // namespace heddle::cuda
