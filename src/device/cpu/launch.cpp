#include "device/cpu/launch.h"

#include <algorithm>

#include "cost/sharing.h"
#include "device/lazy_code.h"
#include "kernel/count_work.h"

namespace heddle::cpu {

namespace {

double work_of(const std::vector<Stage>& stages) {
  double work = 0;
  for (const Stage& stage : stages) {
    double points = 1;
    for (const StageLoop& loop : stage.loops) points *= static_cast<double>(loop.size);
    work += points * static_cast<double>(stage.nodes.size() + stage.statements.size());
  }
  return work;
}

double work_of(const Phase& phase) {
  return work_of(phase.stages) * static_cast<double>(phase.blocks());
}

// Parts of one phase of one kernel, about `wanted` of them where it leaves the choice.
void add_parts(const Phase& phase, std::uint32_t kernel, std::int64_t wanted,
               std::vector<LaunchPart>& parts) {
  const std::int64_t blocks = phase.blocks();
  const bool fixed = phase.chunks > 0;
  const std::int64_t count = fixed ? phase.chunks : std::clamp<std::int64_t>(wanted, 1, blocks);
  for (std::int64_t c = 0; c < count; ++c) {
    const LaunchPart part{kernel, blocks * c / count, blocks * (c + 1) / count, fixed ? c : 0};
    if (fixed || part.first < part.last) parts.push_back(part);
  }
}

void set_pointers(const PlannedKernel& kernel, const CpuLaunch::Memory& memory) {
  void** pointers = memory.pointers + kernel.first_pointer;
  for (std::size_t b = 0; b < kernel.slots.size(); ++b)
    pointers[b] = kernel.slots[b] == kNone
                      ? nullptr
                      : host_pointer(memory.slots[kernel.slots[b]] + kernel.shift[b]);
}

Verdict interpret_kernel(const PlannedKernel& kernel, void* const* pointers) {
  std::vector<std::span<std::byte>> buffers;
  for (std::size_t b = 0; b < kernel.slots.size(); ++b) {
    const KernelBuffer& buffer = kernel.kernel.buffers[b];
    const bool given = buffer.reach == Reach::input || buffer.reach == Reach::output;
    const std::int64_t bytes = buffer.elements * byte_size(buffer.dtype);
    buffers.emplace_back(static_cast<std::byte*>(pointers[b]),
                         given ? static_cast<std::size_t>(bytes) : 0);
  }
  return interpret(kernel.kernel, buffers);
}

}  // namespace

CpuLaunch::CpuLaunch(std::vector<LaunchKernel> kernels, int threads, const VectorTarget& target)
    : target_(target) {
  std::size_t levels = 0;
  for (LaunchKernel& given : kernels) {
    PlannedKernel k{std::move(given)};
    double work = 0;
    for (const Phase& phase : k.kernel.phases) work += work_of(phase);
    k.large = work > cost::kQuickToInterpret;
    k.first_pointer = pointers_;
    pointers_ += k.slots.size() + 1;  // and the code
    scratch_bytes_ = std::max(scratch_bytes_, k.kernel.scratch_bytes);
    if (k.code) levels = std::max(levels, k.kernel.phases.size());
    kernels_.push_back(std::move(k));
  }
  for (std::uint32_t level = 0; level < levels; ++level) deal_out(level, threads);
}

void CpuLaunch::deal_out(std::uint32_t level, int threads) {
  double total = 0;
  for (const PlannedKernel& k : kernels_)
    if (k.code && level < k.kernel.phases.size()) total += work_of(k.kernel.phases[level]);
  LaunchPhase phase{.phase = level, .parts = {}, .alone = total < cost::kSharedEvaluations};
  const double parts = phase.alone ? 1 : static_cast<double>(threads * cost::kPartsPerWorker);
  for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
    const PlannedKernel& kernel = kernels_[k];
    if (!kernel.code || level >= kernel.kernel.phases.size()) continue;
    const double share = work_of(kernel.kernel.phases[level]) / std::max(total, 1.0);
    add_parts(kernel.kernel.phases[level], k, static_cast<std::int64_t>(share * parts + 0.999),
              phase.parts);
  }
  phases_.push_back(std::move(phase));
}

Verdict CpuLaunch::fits_one_worker() const {
  for (const PlannedKernel& k : kernels_)
    if (!k.code) return reason("{} is interpreted", k.kernel.name);
  for (const LaunchPhase& phase : phases_)
    if (!phase.alone) return reason("{} is shared by all workers", kernels_[0].kernel.name);
  return yes();
}

double CpuLaunch::evaluations() const {
  double all = 0;
  for (const PlannedKernel& k : kernels_)
    for (const Phase& phase : k.kernel.phases) all += work_of(phase);
  return all;
}

StepWork CpuLaunch::work() const {
  StepWork all;
  for (const LaunchPhase& phase : phases_) {
    KernelWork& work = phase.alone || phase.parts.size() < 2 ? all.alone : all.shared;
    if (!phase.alone) ++all.launches;
    for (const PlannedKernel& k : kernels_) {
      if (k.code == nullptr) all.is_counted = false;
      if (k.code && phase.phase < k.kernel.phases.size())
        work += count_work(k.kernel, k.kernel.phases[phase.phase], target_);
    }
  }
  all.alone.starts += static_cast<double>(kernels_.size());  // addresses of its buffers
  for (const PlannedKernel& k : kernels_)
    for (const KernelBuffer& buffer : k.kernel.buffers)
      if (buffer.reach != Reach::block)
        all.bytes += static_cast<double>(buffer.elements * byte_size(buffer.dtype));
  return all;
}

Verdict CpuLaunch::run_blocks(const Memory& memory, ThreadPool& pool, std::int64_t first,
                              std::int64_t end) const {
  const PlannedKernel& kernel = kernels_[0];
  if (kernels_.size() != 1 || kernel.kernel.phases.size() != 1 || !kernel.code)
    return reason("a launch of {} kernels cannot be done in blocks", kernels_.size());
  kernel.code->wait();
  const auto* code = static_cast<const CpuKernel*>(kernel.code->get());
  if (code == nullptr)
    return reason("{} has no code and cannot be done in blocks: {}", kernel.kernel.name,
                  kernel.code->failure());
  set_pointers(kernel, memory);
  const Phase& phase = kernel.kernel.phases[0];
  const double work = work_of(phase) * static_cast<double>(end - first) /
                      static_cast<double>(std::max<std::int64_t>(1, phase.blocks()));
  const std::int64_t parts =
      work < cost::kSharedEvaluations
          ? 1
          : std::min<std::int64_t>(end - first, pool.threads() * cost::kPartsPerWorker);
  const auto run_part = [&](std::int64_t i, int worker) {
    const std::int64_t blocks = end - first;
    code->phases[0](memory.pointers, first + blocks * i / parts, first + blocks * (i + 1) / parts,
                    memory.scratch + worker * memory.scratch_stride, 0);
  };
  if (parts > 1)
    pool.parallel_for(parts, run_part);
  else if (first < end)
    run_part(0, 0);
  return yes();
}

Verdict CpuLaunch::run(const Memory& memory, ThreadPool& pool) const {
  for (const PlannedKernel& kernel : kernels_) {
    set_pointers(kernel, memory);
    if (kernel.code && kernel.large) kernel.code->wait();
    const DeviceCode* code = kernel.code ? kernel.code->get() : nullptr;
    void** pointers = memory.pointers + kernel.first_pointer;
    pointers[kernel.slots.size()] = const_cast<DeviceCode*>(code);
    if (code == nullptr) HEDDLE_TRY_VOID(interpret_kernel(kernel, pointers));
  }
  for (const LaunchPhase& phase : phases_) {
    const auto run_part = [&](std::int64_t i, int worker) {
      const LaunchPart& part = phase.parts[static_cast<std::size_t>(i)];
      const PlannedKernel& kernel = kernels_[part.kernel];
      void** pointers = memory.pointers + kernel.first_pointer;
      const auto* code = static_cast<const DeviceCode*>(pointers[kernel.slots.size()]);
      if (code == nullptr) return;
      static_cast<const CpuKernel*>(code)->phases[phase.phase](
          pointers, part.first, part.last, memory.scratch + worker * memory.scratch_stride,
          part.chunk);
    };
    const auto count = static_cast<std::int64_t>(phase.parts.size());
    if (!phase.alone) {
      pool.parallel_for(count, run_part);
      continue;
    }
    for (std::int64_t i = 0; i < count; ++i) run_part(i, 0);
  }
  return yes();
}

}  // namespace heddle::cpu
