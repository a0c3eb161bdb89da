#include "device/cpu/device.h"

#include <algorithm>

#include "base/cache_directory.h"
#include "device/cpu/launch.h"
#include "device/cpu/library.h"
#include "device/cpu/loop.h"
#include "device/cpu/queue.h"
#include "heddle/cost.h"
#include "heddle/thread_pool.h"
#include "kernel/cpu_layout.h"

namespace heddle {

MachineFigures CpuDevice::figures(int sharers) const {
  const MachineFigures whole = figures_of_this_machine();
  // More than there are cores take turns: each has a core while it runs.
  return sharers <= 1 ? whole : figures_of_this_machine(std::max(1, whole.workers / sharers));
}

bool CpuDevice::has_call(const OpDef& def) const { return cpu::has_library_call(def); }
bool CpuDevice::prefers_call(const Program& program, const Op& op) const {
  return cpu::prefers_library_call(program, op);
}
bool CpuDevice::takes_views(const Program& program, const Op& op) const {
  return cpu::library_takes_views(program, op);
}

Expected<Buffer> CpuDevice::allocate(std::int64_t bytes) {
  try {
    return buffer_of(*this, Block::raw(static_cast<std::size_t>(bytes)));
  } catch (const std::bad_alloc&) {
    return reason("there is no memory for {} bytes more", bytes);
  }
}

Verdict CpuDevice::can_compile() const {
  HEDDLE_TRY_VOID(jit_.target());
  return yes();
}

Expected<std::shared_ptr<const DeviceCode>> CpuDevice::compile(const Kernel& kernel) {
  HEDDLE_TRY(std::shared_ptr<const DeviceCode> code, jit_.compile(kernel));
  return code;
}

std::string CpuDevice::source(const Kernel& kernel) const {
  const auto target = jit_.target();
  const auto text = target ? emit_llvm(kernel, target->vectors) : Expected<std::string>("");
  return text ? *text : "";
}

std::vector<std::string> CpuDevice::mapping(const Kernel& kernel) const {
  const auto target = jit_.target();
  return describe_cpu_mapping(kernel, target ? target->vectors : VectorTarget{});
}

Expected<std::unique_ptr<Launch>> CpuDevice::prepare(std::vector<LaunchKernel> kernels) {
  const auto target = jit_.target();
  return std::unique_ptr<Launch>(
      std::make_unique<cpu::CpuLaunch>(std::move(kernels), ThreadPool::shared().threads(),
                                       target ? target->vectors : VectorTarget{}));
}

std::unique_ptr<LoopLaunch> CpuDevice::prepare_loop(LoopWork work,
                                                    const std::vector<std::int64_t>& slot_bytes) {
  return cpu::prepare_loop(jit_, std::move(work), slot_bytes);
}

std::unique_ptr<LibraryCall> CpuDevice::library_call(const Program& program, const Op& op,
                                                     const ProductViews* views) const {
  return cpu::library_call(program, op, views);
}

std::unique_ptr<Queue> CpuDevice::queue() { return std::make_unique<cpu::CpuQueue>(*this); }

CpuDevice& cpu_device() {
  static CpuDevice device(CpuJitOptions{.cache_directory = cache_directory()});
  return device;
}

}  // namespace heddle
