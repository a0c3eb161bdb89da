#include "runtime/launch.h"

#include <algorithm>

#include "cost/sharing.h"

namespace heddle::runtime {

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

void set_pointers(const LaunchKernel& kernel, const LaunchMemory& memory) {
  void** pointers = memory.pointers + kernel.first_pointer;
  for (std::size_t b = 0; b < kernel.slots.size(); ++b)
    pointers[b] =
        kernel.slots[b] == kNone ? nullptr : memory.slots[kernel.slots[b]] + kernel.shift[b];
}

Verdict interpret_kernel(const LaunchKernel& kernel, void* const* pointers) {
  std::vector<std::span<std::byte>> buffers;
  for (std::size_t b = 0; b < kernel.slots.size(); ++b) {
    const Reach reach = kernel.kernel.buffers[b].reach;
    const bool given = reach == Reach::input || reach == Reach::output;
    buffers.emplace_back(static_cast<std::byte*>(pointers[b]),
                         given ? static_cast<std::size_t>(kernel.bytes[b]) : 0);
  }
  return interpret(kernel.kernel, buffers);
}

}  // namespace

void plan_launch(LaunchStep& launch, int threads) {
  for (LaunchKernel& k : launch.kernels) {
    double work = 0;
    for (const Phase& phase : k.kernel.phases) work += work_of(phase);
    k.large = work > cost::kQuickToInterpret;
  }
  std::size_t levels = 0;
  for (const LaunchKernel& k : launch.kernels)
    if (k.code) levels = std::max(levels, k.kernel.phases.size());
  for (std::uint32_t level = 0; level < levels; ++level) {
    double total = 0;
    for (const LaunchKernel& k : launch.kernels)
      if (k.code && level < k.kernel.phases.size()) total += work_of(k.kernel.phases[level]);
    LaunchPhase phase{.phase = level, .parts = {}, .alone = total < cost::kSharedEvaluations};
    const double parts = phase.alone ? 1 : static_cast<double>(threads * cost::kPartsPerWorker);
    for (std::uint32_t k = 0; k < launch.kernels.size(); ++k) {
      const LaunchKernel& kernel = launch.kernels[k];
      if (!kernel.code || level >= kernel.kernel.phases.size()) continue;
      const double share = work_of(kernel.kernel.phases[level]) / std::max(total, 1.0);
      add_parts(kernel.kernel.phases[level], k, static_cast<std::int64_t>(share * parts + 0.999),
                phase.parts);
    }
    launch.phases.push_back(std::move(phase));
  }
}

Verdict run_launch(const LaunchStep& launch, const LaunchMemory& memory, ThreadPool& pool) {
  for (const LaunchKernel& kernel : launch.kernels) {
    set_pointers(kernel, memory);
    if (kernel.code && kernel.large) kernel.code->wait();
    const CpuKernel* code = kernel.code ? kernel.code->get() : nullptr;
    void** pointers = memory.pointers + kernel.first_pointer;
    pointers[kernel.slots.size()] = const_cast<CpuKernel*>(code);
    if (code == nullptr) HEDDLE_TRY_VOID(interpret_kernel(kernel, pointers));
  }
  for (const LaunchPhase& phase : launch.phases) {
    const auto run_part = [&](std::int64_t i, int worker) {
      const LaunchPart& part = phase.parts[static_cast<std::size_t>(i)];
      const LaunchKernel& kernel = launch.kernels[part.kernel];
      void** pointers = memory.pointers + kernel.first_pointer;
      const auto* code = static_cast<const CpuKernel*>(pointers[kernel.slots.size()]);
      if (code == nullptr) return;
      code->phases[phase.phase](pointers, part.first, part.last,
                                memory.scratch + worker * memory.scratch_stride, part.chunk);
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

}  // namespace heddle::runtime
