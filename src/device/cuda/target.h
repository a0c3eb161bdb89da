// What a GPU of some kind takes and how kernels are written for it, whether one is there or not.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "device/cuda/gpu_facts.h"
#include "device/cuda/nvrtc.h"
#include "heddle/device.h"
#include "kernel/emit_cuda.h"

namespace heddle {

class CodeCache;

// Compiles for GPUs that are not there: `heddle compile --device cuda:h200`, and tests without one.
// It has no memory and no queues.
class CudaTarget : public Device {
 public:
  // `host` computes what the GPU does not; machine code is kept in the folder, where there is one.
  CudaTarget(cuda::GpuFacts facts, std::string name, Device& host,
             const std::optional<std::filesystem::path>& cache = {});
  ~CudaTarget() override;

  std::string_view name() const override { return name_; }
  std::string model() const override { return facts_.name; }
  const cuda::GpuFacts& facts() const { return facts_; }
  MachineFigures figures(int sharers) const override;
  DeviceLimits limits() const override;

  bool has_call(const OpDef& def) const override;
  bool prefers_call(const Program& program, const Op& op) const override;
  bool takes_views(const Program& program, const Op& op) const override;
  EvenRows even_rows(const Program& program, const Op& op) const override;
  bool can_go_on(const Program& program, const Op& op, const ProductThen& then) const override;

  std::string plans_depend_on() const override;

  Verdict can_compile() const override;
  bool rounds_late() const override { return true; }
  std::string source(const Kernel& kernel) const override;
  std::vector<std::string> mapping(const Kernel& kernel) const override;

  Expected<Buffer> allocate(std::int64_t bytes) override;
  // Machine code that nothing can run; what the compiler says of it is in the log.
  Expected<std::shared_ptr<const DeviceCode>> compile(const Kernel& kernel) override;
  Expected<std::unique_ptr<Launch>> prepare(std::vector<LaunchKernel> kernels) override;
  std::unique_ptr<LibraryCall> library_call(const Program& program, const Op& op,
                                            const ProductViews* views) const override;
  std::unique_ptr<Queue> queue() override;

 protected:
  CudaLimits kernel_limits() const;
  // Of the first text that needs no more registers than there are, or the last.
  Expected<CudaObject> object_of(const Kernel& kernel, CudaLimits limits) const;
  // Whether products are calls of a library: always, where no GPU is there to ask.
  virtual bool multiplies(const Program& program, const Op& op) const;
  Device& host() const { return host_; }
  // Machine code of a text, from the cache where it is there.
  Expected<CudaObject> kept(const std::string& text,
                            const std::function<Expected<CudaObject>()>& make) const;
  Expected<CudaObject> kept(const Kernel& kernel, const CudaLimits& limits) const;
  // The same by one text alone; a reason where that needs more registers than there are.
  Expected<CudaObject> kept_without_spills(const Kernel& kernel, const CudaLimits& limits) const;
  const CodeCache* cache() const { return cache_.get(); }  // null: nothing is kept

 private:
  cuda::GpuFacts facts_;
  std::string name_;  // cuda:0
  Device& host_;
  std::unique_ptr<const CodeCache> cache_;
};

// A GPU of a kind that is known by name: h200, h100, a100. A reason names those that are.
Expected<CudaTarget*> cuda_target(std::string_view kind, Device& host);

}  // namespace heddle
