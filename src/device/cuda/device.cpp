#include "device/cuda/device.h"

#include <map>
#include <mutex>

#include "base/cache_directory.h"
#include "device/code_cache.h"
#include "device/cuda/blas.h"
#include "device/cuda/code.h"
#include "device/cuda/host_call.h"
#include "device/cuda/nvrtc.h"
#include "device/cuda/queue.h"
#include "heddle/cost.h"
#include "heddle/hash.h"
#include "heddle/op.h"

namespace heddle {

using namespace cuda;

namespace {

constexpr std::int64_t kMostCached = 1LL << 30;

}  // namespace

Expected<std::unique_ptr<CudaDevice>> CudaDevice::open(
    int number, Device& host, const std::optional<std::filesystem::path>& cache) {
  HEDDLE_TRY(auto context, Context::open(number));
  return std::unique_ptr<CudaDevice>(new CudaDevice(std::move(context), host, cache));
}

CudaDevice::CudaDevice(std::shared_ptr<Context> context, Device& host,
                       const std::optional<std::filesystem::path>& cache)
    : context_(std::move(context)), host_(host), name_(fmt::format("cuda:{}", context_->number())) {
  if (cache) cache_ = std::make_unique<CodeCache>(*cache, kMostCached);
}

CudaDevice::~CudaDevice() = default;

// ---- what it can do

MachineFigures CudaDevice::figures(int sharers) const {
  return figures_of_gpu({.multiprocessors = facts().multiprocessors,
                         .clock = facts().clock_khz * 1e3,
                         .memory_rate = 2e3 * facts().memory_khz * facts().memory_bits / 8,
                         .shared_bytes = facts().shared_bytes,
                         .far_cache = facts().far_cache},
                        sharers);
}

DeviceLimits CudaDevice::limits() const {
  return {.alignment = 256, .memory_bytes = facts().memory_bytes};
}

bool CudaDevice::has_call(const OpDef& def) const { return host_.has_call(def); }

// Everything that a kernel computes stays on the device.
bool CudaDevice::prefers_call(const Program& program, const Op& op) const {
  return has_product(program, op) && host_.prefers_call(program, op);
}

bool CudaDevice::takes_views(const Program& program, const Op& op) const {
  return has_product(program, op);
}

// ---- memory

Expected<Buffer> CudaDevice::allocate(std::int64_t bytes) {
  HEDDLE_TRY(const Pointer pointer, context_->allocate(bytes));
  std::shared_ptr<void> held(
      nullptr, [context = context_, pointer, bytes](void*) { context->release(pointer, bytes); });
  return Buffer{.device = this,
                .address = {static_cast<std::uintptr_t>(pointer)},
                .bytes = bytes,
                .memory = std::move(held)};
}

// ---- code

CudaLimits CudaDevice::kernel_limits() const { return {.shared_bytes = facts().shared_bytes}; }

Verdict CudaDevice::can_compile() const {
  HEDDLE_TRY_VOID(find_nvrtc());
  return yes();
}

std::string CudaDevice::source(const Kernel& kernel) const {
  return emit_cuda(kernel, kernel_limits());
}

Expected<std::string> CudaDevice::object_of(const std::string& source) const {
  HEDDLE_TRY(const std::string compiler, find_nvrtc());
  const std::string key = fmt::format("cuda_{}_{:016x}{:016x}", facts().arch,
                                      hash_combine(hash_combine(1, source), compiler),
                                      hash_combine(hash_combine(2, source), compiler));
  if (cache_)
    if (auto found = cache_->read(key)) return *std::move(found);
  HEDDLE_TRY(const std::vector<char> made, compile_cuda(source, facts().arch));
  std::string object(made.begin(), made.end());
  if (cache_) cache_->write(key, object);
  return object;
}

Expected<std::shared_ptr<const DeviceCode>> CudaDevice::compile(const Kernel& kernel) {
  HEDDLE_TRY(const std::string object, object_of(source(kernel)));
  HEDDLE_TRY(std::shared_ptr<const DeviceCode> code,
             CudaCode::load(context_, object, cuda_plan(kernel, kernel_limits())));
  return code;
}

Expected<std::unique_ptr<Launch>> CudaDevice::prepare(std::vector<LaunchKernel> kernels) {
  auto launch = std::make_unique<CudaLaunch>();
  for (LaunchKernel& given : kernels) {
    if (!given.code)
      return reason("{} interprets no kernels, and {} has no code", name_, given.kernel.name);
    const CudaPlan plan = cuda_plan(given.kernel, kernel_limits());
    launch->scratch_bytes = std::max(launch->scratch_bytes, plan.scratch_bytes);
    launch->kernels.push_back(std::move(given));
  }
  return std::unique_ptr<Launch>(std::move(launch));
}

// ---- calls

std::unique_ptr<LibraryCall> CudaDevice::library_call(const Program& program, const Op& op,
                                                      const ProductViews* views) const {
  if (auto product = product_call(*context_, program, op, views)) return product;
  return views == nullptr ? host_call(host_, program, op) : nullptr;
}

std::unique_ptr<Queue> CudaDevice::queue() { return std::make_unique<CudaQueue>(*this, context_); }

Expected<CudaDevice*> cuda_device(int number, Device& host) {
  static std::mutex mutex;
  static auto& opened = *new std::map<int, std::unique_ptr<CudaDevice>>();  // never destroyed
  const std::lock_guard lock(mutex);
  std::unique_ptr<CudaDevice>& device = opened[number];
  if (!device) {
    HEDDLE_TRY(device, CudaDevice::open(number, host, cache_directory()));
  }
  return device.get();
}

}  // namespace heddle
