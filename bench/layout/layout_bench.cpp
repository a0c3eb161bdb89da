// Time of the layout algebra and the planner, at axis sizes 2 and 65,536: the two must be alike.
#include <benchmark/benchmark.h>

#include "heddle/notation.h"
#include "heddle/plan.h"

namespace heddle {
namespace {

struct World {
  AxisRegistry axes = AxisRegistry::standard();
  Mesh mesh;
  explicit World(std::int64_t size) {
    mesh = Mesh::parse(fmt::format("x={0},y={0},z={0}", size), axes).value();
  }
  Layout layout(const std::string& text) { return parse_layout(text, axes).value(); }
};

// Eight digits on four axes, some of which merge, with replicas, a pending sum and an offset.
LayoutParts eight_digits(World& w, std::int64_t n) {
  const AxisId x = *w.axes.find("x");
  const AxisId y = *w.axes.find("y");
  const AxisId z = *w.axes.find("z");
  const AxisId mem = w.axes.mem();
  LayoutParts p;
  p.dims = {{n * n * 4, n * n * 4, 0, 0, 0}, {n * 16, n * 16, 0, 0, 0}};
  p.digits = {{n, 1, x}, {n, 64, mem}, {2, 32, mem}, {2, 16, mem},
              {n, 1, y}, {4, 4, mem},  {2, 2, mem},  {2, 1, mem}};
  p.replicas = {{n, 1, z}};
  p.offset = {{mem, 64}};
  return p;
}

void CanonicaliseAndCompare(benchmark::State& state) {
  World w(state.range(0));
  const LayoutParts parts = eight_digits(w, state.range(0));
  const Layout other = Layout::make(parts).value();
  for (auto _ : state) {
    auto layout = Layout::make(parts);
    benchmark::DoNotOptimize(*layout == other);
  }
}
BENCHMARK(CanonicaliseAndCompare)->Arg(2)->Arg(65536);

struct Pair {
  const char* label;
  const char* from;
  const char* to;
};

// N stands for the axis size; dimensions scale with it so that every split is even.
constexpr Pair kPairs[] = {
    {"rows_to_columns", "(N:x, N:y, N)", "(N, N:x, N:y)"},
    {"all_axes_swap", "(N:x, N:y, N:z)", "(N:z, N:x, N:y)"},
    {"pending_to_replicated", "(N, N, N) + P[x,y,z]", "(N, N, N)"},
    {"pending_to_split", "(N, N, N) + P[x,y,z]", "(N:x, N:y, N:z)"},
    {"replicated_to_split", "(N, N, N)", "(N:x, N:y, N:z)"},
    {"gather_all", "(N:x, N:y, N:z)", "(N, N, N)"},
    {"mixed", "(N:x, N, N) + P[y]", "(N, N:z, N:x)"},
    {"other_blocks", "(N:x, N:y, N:z)", "(N{pad=N0, origin=-1}:x, N:y, N:z)"},
    {"halo", "(N0:x, N, N)", "(N0{halo=1}:x, N, N)"},
    {"one_to_pending", "(N, N, N) + 0@x + 0@y", "(N:y, N, N) + P[max z]"},
};

std::string scaled(const char* text, std::int64_t n) {
  std::string out;
  for (const char* c = text; *c != 0; ++c)
    out += *c == 'N' ? std::to_string(n) : std::string(1, *c);
  return out;
}

void ColdPlan(benchmark::State& state) {
  World w(state.range(1));
  const Pair& pair = kPairs[state.range(0)];
  const Layout from = w.layout(scaled(pair.from, state.range(1)));
  const Layout to = w.layout(scaled(pair.to, state.range(1)));
  int states = 0;
  for (auto _ : state) {
    auto plan = plan_redistribution(from, to, w.mesh, w.axes).value();
    states = plan.states;
    benchmark::DoNotOptimize(plan);
  }
  state.SetLabel(pair.label);
  state.counters["states"] = states;
}
BENCHMARK(ColdPlan)
    ->ArgsProduct({benchmark::CreateDenseRange(0, std::size(kPairs) - 1, 1), {2, 65536}})
    ->Unit(benchmark::kMicrosecond);

void WarmPlan(benchmark::State& state) {
  World w(state.range(0));
  Planner planner(w.axes);
  std::vector<std::pair<Layout, Layout>> pairs;
  for (const Pair& p : kPairs) {
    pairs.emplace_back(w.layout(scaled(p.from, state.range(0))),
                       w.layout(scaled(p.to, state.range(0))));
    (void)planner.plan(pairs.back().first, pairs.back().second, w.mesh).value();
  }
  std::size_t at = 0;
  for (auto _ : state) {
    auto plan = planner.plan(pairs[at].first, pairs[at].second, w.mesh);
    benchmark::DoNotOptimize(plan);
    at = at + 1 == pairs.size() ? 0 : at + 1;
  }
}
BENCHMARK(WarmPlan)->Arg(2)->Arg(65536);

}  // namespace
}  // namespace heddle
