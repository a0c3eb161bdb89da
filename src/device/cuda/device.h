// A CUDA GPU as a device: NVRTC compiles its kernels, cuBLASLt multiplies matrices, and what
// neither computes is done by the host.
#pragma once

#include <filesystem>
#include <optional>

#include "device/cuda/context.h"
#include "heddle/device.h"
#include "kernel/emit_cuda.h"

namespace heddle {

class CodeCache;

class CudaDevice final : public Device {
 public:
  // `host` computes what the GPU does not; machine code is kept in the folder, where there is one.
  static Expected<std::unique_ptr<CudaDevice>> open(
      int number, Device& host, const std::optional<std::filesystem::path>& cache = {});
  ~CudaDevice() override;

  std::string_view name() const override { return name_; }
  const cuda::GpuFacts& facts() const { return context_->facts(); }
  MachineFigures figures(int sharers) const override;
  DeviceLimits limits() const override;

  bool has_call(const OpDef& def) const override;
  bool prefers_call(const Program& program, const Op& op) const override;
  bool takes_views(const Program& program, const Op& op) const override;

  Expected<Buffer> allocate(std::int64_t bytes) override;
  std::int64_t live_bytes() const { return context_->live_bytes(); }

  Verdict can_compile() const override;
  Expected<std::shared_ptr<const DeviceCode>> compile(const Kernel& kernel) override;
  std::string source(const Kernel& kernel) const override;
  Expected<std::unique_ptr<Launch>> prepare(std::vector<LaunchKernel> kernels) override;
  std::unique_ptr<LibraryCall> library_call(const Program& program, const Op& op,
                                            const ProductViews* views) const override;
  std::unique_ptr<Queue> queue() override;

 private:
  CudaDevice(std::shared_ptr<cuda::Context> context, Device& host,
             const std::optional<std::filesystem::path>& cache);
  CudaLimits kernel_limits() const;
  Expected<std::string> object_of(const std::string& source) const;

  std::shared_ptr<cuda::Context> context_;
  Device& host_;
  std::string name_;  // cuda:0
  std::unique_ptr<CodeCache> cache_;
};

// The one of the process with this number, opened when it is first asked for.
Expected<CudaDevice*> cuda_device(int number, Device& host);

}  // namespace heddle
