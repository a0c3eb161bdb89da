// The CUDA driver, loaded at run time: enough to run emitted kernels one after the other.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heddle/error.h"
#include "heddle/kernel.h"

namespace heddle {

struct CudaFunctions;

class CudaDevice {
 public:
  // The first device; a reason where there is no driver or no device.
  static Expected<CudaDevice> open();

  const std::string& name() const { return name_; }
  std::string arch() const { return arch_; }  // sm_90

  // Compiles the kernel, copies the inputs over, runs its phases and copies the outputs back.
  // `buffers` as for interpret().
  Verdict run(const Kernel& kernel, std::span<const std::span<std::byte>> buffers) const;

 private:
  CudaDevice() = default;
  std::shared_ptr<const CudaFunctions> functions_;
  std::string name_, arch_;
};

}  // namespace heddle
