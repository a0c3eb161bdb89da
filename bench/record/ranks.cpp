// What it takes to find out what a rank does in a window, for more and more ranks: none of them has
// to be there for that.
#include <benchmark/benchmark.h>

#include "heddle/array_library.h"
#include "heddle/compile.h"
#include "heddle/executable_cache.h"
#include "heddle/window_devices.h"

namespace heddle {
namespace {

constexpr std::int64_t kRows = 1 << 20;

// Two sweeps of a stencil over rows and a sum, as in Jacobi's method.
Program sweeps() {
  Builder b("sweeps");
  const Type grid = Type::tensor(DType::f64, {kRows, 64});
  b.function("main", {grid}, [&](const Vars& in) -> Vars {
    Var u = in[0];
    for (int sweep = 0; sweep < 2; ++sweep) {
      const auto part = [&](std::int64_t row, std::int64_t column) {
        return b.slice(u, {row, column}, {row + kRows - 2, column + 62});
      };
      const Var mean = (part(0, 1) + part(2, 1) + part(1, 0) + part(1, 2)) * 0.25;
      u = b.op("dynamic_update_slice", {u, mean, b.full(Type::tensor(DType::i32, {}), 1),
                                        b.full(Type::tensor(DType::i32, {}), 1)});
    }
    return {u, b.reduce(u, {0, 1}, "add")};
  });
  return b.finish().value();
}

// A turn of conjugate gradients on the matrix of a stencil.
Program gradients(std::int64_t ranks) {
  const ArrayLibrary library = own_operations();
  Builder b("gradients");
  const Type vector = Type::tensor(DType::f64, {kRows * 64}), number = Type::tensor(DType::f64, {});
  b.function("main", {vector, vector, vector, number, number, number}, [&](const Vars& in) -> Vars {
    const auto over = [&](Var x) { return b.broadcast(x, vector.shape); };
    const auto dot = [&](Var x, Var y) { return b.reduce(x * y, {0}, "add"); };
    const Var x = in[0], r = in[1], p = in[2];
    const AttrDict parameters = {{"rows", {Attr::Integers{kRows * 64}}},
                                 {"blocks", {Attr::Integers{ranks}}},
                                 {"offsets", {Attr::Integers{-64, 0, 64}}},
                                 {"kinds", {Attr::Integers{2, 2, 2}}}};
    const Var operands[] = {p, in[4], in[5], in[4]};
    const Var q = library.find("sparse.banded_product")->write(b, operands, parameters)[0];
    const Var alpha = in[3] / dot(p, q);
    const Var next = r - over(alpha) * q;
    const Var rr = dot(next, next);
    return {x + over(alpha) * p, next, next + over(rr / in[3]) * p, rr};
  });
  return b.finish().value();
}

Target target_of(const Program& program, std::int64_t ranks) {
  Target target;
  target.options.machine_code = false;
  const Function& main = program.functions.back();
  std::vector<Type> arguments, results;
  for (ValueId v : program.region(main.body).args) arguments.push_back(program.type_of(v));
  for (TypeId type : main.results) results.push_back(program.type(type));
  const WindowMesh mesh{.count = static_cast<int>(ranks), .are_ranks = true, .least = 1 << 16};
  mesh.place(target, arguments, results);
  return target;
}

void analyse(benchmark::State& state, const Program& program) {
  std::size_t steps = 0;
  for (auto _ : state) {
    const Target target = target_of(program, state.range(0));
    const auto made = compile(program, target);
    if (!made) return state.SkipWithError(made.reason().c_str());
    steps = made->steps().size();
  }
  state.counters["steps"] = static_cast<double>(steps);
}

void AnalyseSweeps(benchmark::State& state) { analyse(state, sweeps()); }
void AnalyseGradients(benchmark::State& state) { analyse(state, gradients(state.range(0))); }
// A window that is known: what each turn of a loop takes.
void FindSweeps(benchmark::State& state) {
  const Program program = sweeps();
  ExecutableCache cache;
  const auto made = cache.compile(program, target_of(program, state.range(0)));
  if (!made) return state.SkipWithError(made.reason().c_str());
  for (auto _ : state)
    benchmark::DoNotOptimize(cache.find(program, target_of(program, state.range(0))).has_value());
}
BENCHMARK(AnalyseSweeps)->RangeMultiplier(16)->Range(1, 1 << 16)->Unit(benchmark::kMillisecond);
BENCHMARK(AnalyseGradients)->RangeMultiplier(16)->Range(16, 1 << 16)->Unit(benchmark::kMillisecond);
BENCHMARK(FindSweeps)->RangeMultiplier(16)->Range(16, 1 << 16)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace heddle
