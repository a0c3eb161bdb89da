// Functions of mathematics over ranges of arguments: none should take longer than the common ones.
//
//   bench_device --benchmark_filter=function/     # the column to_common is the ratio
#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "../../tests/unit/kernel_build.h"
#include "device/cpu/jit.h"
#include "heddle/block.h"

namespace heddle {
namespace {

constexpr std::int64_t kElements = 4096;

struct Range {
  const char* name;
  double first, last;  // of f32; geometric where both have one sign
  double wide_first = first, wide_last = last;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Range kRanges[] = {
    {"common", 0.1, 3},
    {"negative", -3, -0.1},
    {"below_common", -40, -20},
    {"ends_subnormal", -103, -88, -744, -709},
    {"ends_zero", -1e3, -110, -1e4, -750},
    {"very_negative", -1e30, -1e29},
    {"subnormal", 1e-44, 1e-39, 1e-322, 1e-310},
    {"negative_subnormal", -1e-39, -1e-44, -1e-310, -1e-322},
    {"tiny", 1e-37, 1e-25, 1e-307, 1e-200},
    {"small", 1e-20, 1e-10, 1e-150, 1e-20},
    {"large", 20, 40},
    {"overflows", 100, 1e3, 720, 1e4},
    {"thousands", 1e3, 1e4},
    {"millions", 1e5, 1e7},
    {"huge", 1e29, 1e30},
    {"vast", 1e31, 1e38, 1e40, 1e300},
    {"infinite", kInfinity, kInfinity},
    {"nan", std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()},
};

template <typename T>
std::shared_ptr<Block> arguments(const Range& range) {
  const double first = sizeof(T) == 8 ? range.wide_first : range.first;
  const double last = sizeof(T) == 8 ? range.wide_last : range.last;
  auto block = Block::raw(kElements * sizeof(T));
  for (std::int64_t i = 0; i < kElements; ++i) {
    const double t = static_cast<double>(i) / (kElements - 1);
    const auto value =
        static_cast<T>(std::isfinite(first) ? first * std::pow(last / first, t) : first);
    std::memcpy(block->data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
  }
  return block;
}

template <typename T>
class Function {
 public:
  explicit Function(ScalarOp op) {
    const auto x = add_buffer(kernel_, Reach::input, dtype_of<T>(), kElements);
    const auto y = add_buffer(kernel_, Reach::output, dtype_of<T>(), kElements);
    StageBuilder s(kernel_, {{kElements, -1}});
    const NodeId at = s.loop(0), value = s.load(x, at);
    // Of two arguments: |x| and x, so that powers go both ways.
    const bool two = op == ScalarOp::power || op == ScalarOp::atan2;
    s.store(y, at, two ? s.op(op, s.op(ScalarOp::abs, value), value) : s.op(op, value));
    kernel_.phases.emplace_back().stages.push_back(s.stage);
    static CpuJit jit;
    code_ = jit.compile(kernel_).value();
  }

  void run(Block& in, Block& out) const {
    void* buffers[] = {in.data(), out.data()};
    code_->phases[0](buffers, 0, kernel_.phases[0].blocks(), nullptr, 0);
  }

  // The best times of a range over those of the common one, by turns: what else the machine does
  // meets both.
  double to_common(const Range& range) const {
    const std::shared_ptr<Block> in[] = {arguments<T>(range), arguments<T>(kRanges[0])};
    const auto out = Block::raw(in[0]->size());
    double best[] = {kInfinity, kInfinity};
    for (int turn = 0; turn < 60; ++turn)
      best[turn % 2] = std::min(best[turn % 2], seconds(*in[turn % 2], *out));
    return best[0] / best[1];
  }

 private:
  // Of ten runs in a row, so that branches are foreseen.
  double seconds(Block& in, Block& out) const {
    run(in, out);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 10; ++i) run(in, out);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return took.count();
  }

  Kernel kernel_ = named_kernel("function");
  std::shared_ptr<const CpuKernel> code_;
};

template <typename T>
void measure(benchmark::State& state, ScalarOp op, const Range& range) {
  const Function<T> function(op);
  const auto in = arguments<T>(range), out = Block::raw(in->size());
  for (auto _ : state) function.run(*in, *out);
  state.SetItemsProcessed(state.iterations() * kElements);
  state.counters["to_common"] = function.to_common(range);
}

const bool kRegistered = [] {
  for (ScalarOp op :
       {ScalarOp::exp, ScalarOp::expm1, ScalarOp::log, ScalarOp::log1p, ScalarOp::logistic,
        ScalarOp::tanh, ScalarOp::erf, ScalarOp::sin, ScalarOp::cos, ScalarOp::tan, ScalarOp::sqrt,
        ScalarOp::rsqrt, ScalarOp::cbrt, ScalarOp::power, ScalarOp::atan2})
    for (const Range& range : kRanges) {
      const std::string end = fmt::format("{}/{}", name(op), range.name);
      benchmark::RegisterBenchmark(("function/f32/" + end).c_str(),
                                   [=](auto& state) { measure<float>(state, op, range); });
      benchmark::RegisterBenchmark(("function/f64/" + end).c_str(),
                                   [=](auto& state) { measure<double>(state, op, range); });
    }
  return true;
}();

}  // namespace
}  // namespace heddle
