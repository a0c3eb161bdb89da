// A CUDA GPU as a device: NVRTC compiles its kernels, cuBLASLt multiplies matrices, and what
// neither computes is done by the host.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "device/cuda/context.h"
#include "device/cuda/fastest.h"
#include "device/cuda/shared_calls.h"
#include "device/cuda/target.h"

namespace heddle {

namespace cuda {
class CudaCode;
class RearrangeKernels;
struct ChunkTurns;
}  // namespace cuda

class CudaDevice final : public CudaTarget {
 public:
  // `host` computes what the GPU does not; machine code is kept in the folder, where there is one.
  static Expected<std::unique_ptr<CudaDevice>> open(
      int number, Device& host, const std::optional<std::filesystem::path>& cache = {});
  ~CudaDevice() override;

  Expected<Buffer> allocate(std::int64_t bytes) override;
  // For a stream of its queues; null: for all.
  Expected<Buffer> allocate(std::int64_t bytes, cuda::Handle stream);
  std::string plans_depend_on() const override;
  bool memory_outlasts_work() const override { return true; }
  std::int64_t live_bytes() const override { return context_->live_bytes(); }
  DlpackDevice dlpack_device() const override { return {2, context_->number()}; }

  bool can_go_on(const Program& program, const Op& op, const ProductThen& then) const override;
  Expected<std::shared_ptr<const DeviceCode>> compile(const Kernel& kernel) override {
    return compile_for(kernel, 1);
  }
  Expected<std::shared_ptr<const DeviceCode>> compile_for(const Kernel& kernel,
                                                          double share) override;
  Expected<std::unique_ptr<Launch>> prepare(std::vector<LaunchKernel> kernels) override;
  // HEDDLE_CUDA_CHUNKS=1 asks for it.
  bool runs_chunks() const override;
  Expected<std::unique_ptr<ChunkLaunch>> prepare_chunks(const ChunkWork& work) override;
  std::unique_ptr<LibraryCall> library_call(const Program& program, const Op& op,
                                            const ProductViews* views) const override;
  std::shared_ptr<void> open_ahead(const Program& program) override;
  std::unique_ptr<Queue> queue() override;
  // The kernel of combine.h; made when it is first asked for.
  Expected<cuda::Handle> combine_kernel(ReduceOp op, DType dtype) const;

 protected:
  bool multiplies(const Program& program, const Op& op) const override;

 private:
  CudaDevice(std::shared_ptr<cuda::Context> context, Device& host,
             const std::optional<std::filesystem::path>& cache);
  // The kernel that brings arrays into another order, loaded when it is first asked for.
  Expected<std::shared_ptr<const cuda::RearrangeKernels>> rearrange_kernels() const;
  cuda::Notebook notebook() const;
  // Code by the way to share rows that was fastest here, which is timed where nothing is noted.
  Expected<std::shared_ptr<const cuda::CudaCode>> fastest_code(
      const Kernel& kernel, const std::vector<CudaLimits>& ways) const;
  // A function of a text, by its name; loaded once.
  Expected<cuda::Handle> function_of(const std::string& text, const char* name) const;

  std::shared_ptr<cuda::Context> context_;
  std::shared_ptr<cuda::ChunkTurns> chunk_turns_;
  mutable std::mutex mutex_;
  std::atomic<bool> has_opened_blas_ = false;
  mutable std::shared_ptr<const cuda::RearrangeKernels> rearrange_;
  mutable cuda::SharedCalls shared_calls_;
  // By text and name; their modules stay.
  mutable std::map<std::pair<std::string, std::string>, cuda::Handle> functions_;
};

// The one of the process with this number, opened when it is first asked for.
Expected<CudaDevice*> cuda_device(int number, Device& host);

}  // namespace heddle
