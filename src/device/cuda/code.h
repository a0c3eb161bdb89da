// Kernels of one GPU: machine code, and how they are launched.
#pragma once

#include "device/cuda/context.h"
#include "heddle/device.h"
#include "kernel/emit_cuda.h"

namespace heddle::cuda {

// A module with a function for each phase.
class CudaCode final : public DeviceCode {
 public:
  static Expected<std::shared_ptr<const CudaCode>> load(std::shared_ptr<Context> context,
                                                        const std::string& object,
                                                        const CudaPlan& plan);
  ~CudaCode() override;
  CudaCode(const CudaCode&) = delete;
  CudaCode& operator=(const CudaCode&) = delete;

  std::int64_t scratch_bytes() const { return scratch_bytes_; }
  // Runs all phases, one after the other; `buffers` by number, `scratch` as large as the plan says.
  Verdict launch(Handle stream, void* const* buffers, Pointer scratch) const;
  // One phase, whose function takes one argument, which lies there.
  Verdict launch_phase(Handle stream, std::size_t phase, void* argument) const;

 private:
  struct Phase {
    Handle function = nullptr;
    unsigned grid = 1, threads = 1, shared_bytes = 0;
  };
  Verdict launch(Handle stream, const Phase& phase, void** arguments) const;
  explicit CudaCode(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  std::shared_ptr<Context> context_;
  Handle module_ = nullptr;
  std::int64_t scratch_bytes_ = 0;
  std::vector<Phase> phases_;
};

}  // namespace heddle::cuda
