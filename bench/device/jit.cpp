// Compiled kernels at sizes that matter, on all cores, and how long compiling takes.
#include "device/cpu/jit.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include "../../tests/unit/kernel_examples.h"

namespace heddle {
namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, Free>;

Memory filled(std::int64_t elements, DType dtype) {
  const auto bytes = static_cast<std::size_t>(elements * byte_size(dtype) + 63) / 64 * 64;
  Memory memory(std::aligned_alloc(64, bytes));
  if (dtype != DType::f32) {
    std::memset(memory.get(), 0, bytes);
    return memory;
  }
  auto* numbers = static_cast<float*>(memory.get());
  for (std::int64_t i = 0; i < elements; ++i) numbers[i] = static_cast<float>(i % 97) / 16 - 3;
  return memory;
}

// Runs all phases on `threads` workers, each with its share of the blocks.
void launch(const CpuKernel& code, const Kernel& kernel, void* const* buffers,
            const std::vector<Memory>& scratch) {
  const auto threads = static_cast<std::int64_t>(scratch.size());
  for (std::size_t p = 0; p < kernel.phases.size(); ++p) {
    const std::int64_t blocks = kernel.phases[p].blocks();
    auto work = [&](std::int64_t t) {
      code.phases[p](buffers, blocks * t / threads, blocks * (t + 1) / threads,
                     scratch[static_cast<std::size_t>(t)].get(), t);
    };
    std::vector<std::thread> others;
    for (std::int64_t t = 1; t < threads; ++t) others.emplace_back(work, t);
    work(0);
    for (std::thread& other : others) other.join();
  }
}

void run(benchmark::State& state, const Kernel& kernel, std::int64_t threads) {
  CpuJit jit;
  const auto code = jit.compile(kernel);
  if (!code) return state.SkipWithError(code.reason().c_str());
  std::vector<Memory> memory, scratch;
  std::vector<void*> buffers;
  std::int64_t bytes = 0;
  for (const KernelBuffer& b : kernel.buffers) {
    memory.push_back(filled(b.elements, b.dtype));
    buffers.push_back(memory.back().get());
    if (b.reach == Reach::input || b.reach == Reach::output)
      bytes += b.elements * byte_size(b.dtype);
  }
  for (std::int64_t t = 0; t < threads; ++t)
    scratch.push_back(filled(kernel.scratch_bytes / 4 + 16, DType::f32));
  for (auto _ : state) launch(**code, kernel, buffers.data(), scratch);
  state.SetBytesProcessed(state.iterations() * bytes);
}

Kernel streamed(Kernel kernel) {
  for (KernelBuffer& b : kernel.buffers) b.streamed = b.reach == Reach::output;
  return kernel;
}

// One operation on every element, in blocks of `block`.
Kernel elementwise(std::int64_t n, std::int64_t block, ScalarOp op, DType dtype) {
  Kernel kernel = named_kernel("elementwise");
  const auto x = add_buffer(kernel, Reach::input, dtype, n);
  const auto y = add_buffer(kernel, Reach::output, dtype, n);
  StageBuilder s(kernel, {{block, 0}});
  const NodeId at = s.add(s.outer(0), s.loop(0));
  const NodeId value = s.load(x, at);
  s.store(y, at, operand_count(op) == 1 ? s.op(op, value) : s.op(op, value, value));
  kernel.phases.push_back(phase_over({{n, block}}));
  kernel.phases[0].stages.push_back(s.stage);
  return kernel;
}

void softmax(benchmark::State& state) {
  run(state, streamed(examples::softmax(8192, 2048)), state.range(0));
}
BENCHMARK(softmax)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void softmax_in_cache(benchmark::State& state) { run(state, examples::softmax(32, 1024), 1); }
BENCHMARK(softmax_in_cache)->Unit(benchmark::kMicrosecond);

void column_sum(benchmark::State& state) {
  run(state, examples::column_sum(8192, 2048, state.range(0)), state.range(0));
}
BENCHMARK(column_sum)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// 16 Ki floats, so that only the arithmetic counts.
void operation(benchmark::State& state, ScalarOp op, DType dtype) {
  run(state, elementwise(1 << 14, 1 << 14, op, dtype), 1);
}
BENCHMARK_CAPTURE(operation, add, ScalarOp::add, DType::f32);
BENCHMARK_CAPTURE(operation, add_bf16, ScalarOp::add, DType::bf16);
BENCHMARK_CAPTURE(operation, maximum, ScalarOp::maximum, DType::f32);
BENCHMARK_CAPTURE(operation, exp, ScalarOp::exp, DType::f32);
BENCHMARK_CAPTURE(operation, exp_f64, ScalarOp::exp, DType::f64);
BENCHMARK_CAPTURE(operation, tanh, ScalarOp::tanh, DType::f32);
BENCHMARK_CAPTURE(operation, logistic, ScalarOp::logistic, DType::f32);
BENCHMARK_CAPTURE(operation, erf, ScalarOp::erf, DType::f32);
BENCHMARK_CAPTURE(operation, log, ScalarOp::log, DType::f32);

void copy(benchmark::State& state) {
  Kernel kernel = elementwise(1 << 24, 1 << 12, ScalarOp::negate, DType::f32);
  run(state, state.range(1) != 0 ? streamed(kernel) : kernel, state.range(0));
}
BENCHMARK(copy)->ArgsProduct({{1, 2}, {0, 1}})->UseRealTime()->Unit(benchmark::kMillisecond);

void compile_softmax(benchmark::State& state) {
  std::int64_t rows = 100;
  CpuJit jit;
  for (auto _ : state) {
    state.PauseTiming();
    const Kernel kernel = examples::softmax(++rows, 2048, 4);
    state.ResumeTiming();
    if (const auto code = jit.compile(kernel); !code)
      return state.SkipWithError(code.reason().c_str());
  }
}
BENCHMARK(compile_softmax)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace heddle
