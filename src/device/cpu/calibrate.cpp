#include "device/cpu/calibrate.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>

#include "device/cpu/jit.h"
#include "device/cpu/time_call.h"
#include "heddle/builder.h"
#include "heddle/cost.h"
#include "heddle/stitch.h"
#include "heddle/thread_pool.h"
#include "kernel/lower_group.h"

namespace heddle {

namespace {

using cpu::seconds_of;

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, Free>;

Memory memory_of(std::int64_t bytes) {
  Memory m(std::aligned_alloc(64, static_cast<std::size_t>((bytes + 63) / 64 * 64)));
  if (!m) throw Error("calibrate: there is not enough memory");
  // Pages that are written once are there; numbers that are no special case of any function.
  std::fill_n(static_cast<float*>(m.get()), bytes / 4, 0.5F);
  return m;
}

// One kernel of f(x) over n floats, run over and over.
class Trial {
 public:
  static Expected<Trial> make(CpuJit& jit, std::int64_t n, const MachineFigures& machine,
                              const std::function<Var(Builder&, Var)>& f) {
    Builder b;
    b.function("main", {Type::tensor(DType::f32, {n})},
               [&](const Vars& in) -> Vars { return {f(b, in[0])}; });
    HEDDLE_TRY(const Program program, b.finish());
    HEDDLE_TRY(const StitchPlan plan,
               stitch(program, program.functions[0].body, {.fuse = true, .machine = machine}));
    HEDDLE_CHECK(plan.units.size() == 1 && plan.units[0].kernels.size() == 1);
    Trial t;
    HEDDLE_TRY(t.kernel_, lower_group(program, plan.units[0].kernels[0], machine));
    HEDDLE_TRY(t.code_, jit.compile(t.kernel_));
    for (const KernelBuffer& buffer : t.kernel_.buffers) {
      t.memory_.push_back(memory_of(buffer.elements * 4));
      t.buffers_.push_back(t.memory_.back().get());
    }
    return t;
  }

  double alone() {
    const std::int64_t blocks = kernel_.phases[0].blocks();
    return seconds_of([&] { code_->phases[0](buffers_.data(), 0, blocks, nullptr, 0); });
  }
  double on_all() {
    const std::int64_t blocks = kernel_.phases[0].blocks(), chunks = 8;
    ThreadPool& pool = ThreadPool::shared();
    return seconds_of([&] {
      pool.parallel_for(chunks, [&](std::int64_t c, int) {
        code_->phases[0](buffers_.data(), blocks * c / chunks, blocks * (c + 1) / chunks, nullptr,
                         c);
      });
    });
  }

 private:
  Kernel kernel_;
  std::shared_ptr<const CpuKernel> code_;
  std::vector<Memory> memory_;
  std::vector<void*> buffers_;
};

}  // namespace

Expected<MachineFigures> calibrate() {
  MachineFigures m = figures_of_this_machine();
  CpuJit jit;
  HEDDLE_TRY(const CpuTarget target, jit.target());
  m.vector_bytes = target.vectors.vector_bytes;
  const std::int64_t large = 4 * m.far_cache / 4, small = m.near_cache / 16;  // floats
  HEDDLE_TRY(Trial copy, Trial::make(jit, large, m, [](Builder&, Var x) { return -x; }));
  m.copy_rate = 8.0 * static_cast<double>(large) / copy.on_all();
  m.worker_copy_rate = 8.0 * static_cast<double>(large) / copy.alone();
  HEDDLE_TRY(Trial near, Trial::make(jit, small, m, [](Builder&, Var x) { return -x; }));
  m.near_rate = 8.0 * static_cast<double>(small) / near.alone();
  constexpr int kChain = 32;
  HEDDLE_TRY(Trial light, Trial::make(jit, small, m, [](Builder&, Var x) {
               Var y = x;
               for (int i = 0; i < kChain; ++i) y = i % 2 ? y + x : y * x;
               return y;
             }));
  m.light_rate = kChain * static_cast<double>(small) / light.alone();
  constexpr int kHeavy = 4;
  HEDDLE_TRY(Trial heavy, Trial::make(jit, small, m, [](Builder& b, Var x) {
               Var y = x;
               for (int i = 0; i < kHeavy; ++i) y = b.op("exponential", {y * -1.5});
               return y;
             }));
  m.heavy_rate = kHeavy * static_cast<double>(small) / heavy.alone();
  ThreadPool& pool = ThreadPool::shared();
  // An empty launch may be over before a second worker wakes; a real one is not.
  constexpr double kLeast = 5e-7;
  m.launch_seconds =
      std::max(kLeast, seconds_of([&] { pool.parallel_for(m.workers, [](std::int64_t, int) {}); }));
  return m;
}

}  // namespace heddle
