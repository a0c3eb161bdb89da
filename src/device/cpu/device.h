// The CPU as a device: LLVM compiles its kernels, OpenBLAS and loops written by hand are its calls,
// and its memory is the host's.
#pragma once

#include "device/cpu/jit.h"
#include "heddle/device.h"

namespace heddle {

class CpuDevice : public Device {
 public:
  explicit CpuDevice(CpuJitOptions options = {}) : jit_(std::move(options)) {}

  std::string_view name() const override { return "cpu"; }
  MachineFigures figures(int sharers) const override;

  bool has_call(const OpDef& def) const override;
  bool prefers_call(const Program& program, const Op& op) const override;
  std::string plans_depend_on() const override { return "cpu"; }
  bool takes_views(const Program& program, const Op& op) const override;

  Expected<Buffer> allocate(std::int64_t bytes) override;
  bool in_host_memory() const override { return true; }

  Verdict can_compile() const override;
  Expected<std::shared_ptr<const DeviceCode>> compile(const Kernel& kernel) override;
  std::string source(const Kernel& kernel) const override;
  std::vector<std::string> mapping(const Kernel& kernel) const override;
  Expected<std::unique_ptr<Launch>> prepare(std::vector<LaunchKernel> kernels) override;
  std::unique_ptr<LoopLaunch> prepare_loop(LoopWork work,
                                           const std::vector<std::int64_t>& slot_bytes) override;
  std::unique_ptr<LibraryCall> library_call(const Program& program, const Op& op,
                                            const ProductViews* views) const override;
  std::unique_ptr<Queue> queue() override;

 private:
  CpuJit jit_;
};

// The one of the process: it keeps what it has compiled, in memory and in the cache directory.
CpuDevice& cpu_device();

}  // namespace heddle
