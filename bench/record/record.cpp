// What recorded arrays cost beyond their kernels: writing a window of ops, finding what was
// compiled of it before, and running that again.
#include <benchmark/benchmark.h>

#include "heddle/builder.h"
#include "heddle/compile.h"
#include "heddle/executable_cache.h"
#include "heddle/op.h"

namespace heddle {
namespace {

const Type kVector = Type::tensor(DType::f32, {1000});

// A window as array programs make them: arithmetic, functions, comparisons and choices, slices.
class Window {
 public:
  Program record(int ops, const Type& type = kVector) {
    Builder b("window");
    b.function("main", {type, type, type}, [&](const Vars& in) -> Vars {
      Var x = in[0], y = in[1];
      for (int n = 0; n < ops; n += 10) {
        const Var sum = b.op(add_, {x, in[2]});
        const Var scaled = b.op(multiply_, {sum, y});
        const Var grown = b.op(exponential_, {scaled});
        const Var root = b.op(sqrt_, {grown});
        const Var part = b.op(divide_, {grown, root});
        const Var less = b.compare("LT", part, in[2]);
        const Var chosen = b.op(select_, {less, part, sum});
        const Var turned = b.op(negate_, {chosen});
        y = b.op(maximum_, {turned, x});
        x = b.op(subtract_, {y, in[1]});
      }
      return {x, y};
    });
    return std::move(b.program);
  }

 private:
  static const OpDef& row(std::string_view name) { return *find_stablehlo_op(name); }
  const OpDef &add_ = row("add"), &multiply_ = row("multiply"), &divide_ = row("divide"),
              &subtract_ = row("subtract"), &negate_ = row("negate"), &maximum_ = row("maximum"),
              &exponential_ = row("exponential"), &sqrt_ = row("sqrt"), &select_ = row("select");
};

// Types inferred, hash grown. Due: 0.5 µs per op.
void RecordOps(benchmark::State& state) {
  Window window;
  const auto ops = static_cast<int>(state.range(0));
  std::uint64_t hash = 0;
  for (auto _ : state) hash ^= window.record(ops).hash();
  benchmark::DoNotOptimize(hash);
  state.counters["per_op"] =
      benchmark::Counter(static_cast<double>(state.iterations() * ops),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(RecordOps)->Arg(100)->Arg(1000);

// One of 32 windows that were compiled before, compared in full. Due: 5 µs.
void LookUpWindowOf100(benchmark::State& state) {
  Window window;
  ExecutableCache cache(64);
  Target target;
  target.options.machine_code = false;
  for (int i = 1; i <= 32; ++i) {
    const Type type = Type::tensor(DType::f32, {i});
    if (!cache.compile(window.record(100, type), target))
      return state.SkipWithError("the window does not compile");
  }
  const Program again = window.record(100, Type::tensor(DType::f32, {7}));
  for (auto _ : state) {
    auto found = cache.find(again, target);
    if (!found) return state.SkipWithError("the window was not found");
    benchmark::DoNotOptimize(found);
  }
}
BENCHMARK(LookUpWindowOf100);

// A program of one kernel over one element: all that a run takes beyond it. Due: 1 µs.
void ReplayOneKernel(benchmark::State& state) {
  Builder b("tiny");
  const Type scalar = Type::tensor(DType::f32, {1});
  b.function("main", {scalar, scalar}, [](const Vars& in) -> Vars { return {in[0] * in[1]}; });
  const auto executable = compile(b.finish().value());
  if (!executable) return state.SkipWithError(executable.reason().c_str());
  const Array x(scalar), y(scalar);
  for (auto _ : state) {
    auto results = executable->run({x, y});
    benchmark::DoNotOptimize(results);
  }
}
BENCHMARK(ReplayOneKernel);

}  // namespace
}  // namespace heddle
