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

// Axes of sizes that are cut, cross or do not nest: many states, or an exchange with collectives.
struct HardPair {
  const char *label, *mesh, *from, *to;
};
constexpr HardPair kHardPairs[] = {
    {"cut_by_the_other", "x=4,y=8,z=2", "(4096:x:y, 4096) + P[z]", "(4096:y:z, 4096:x)"},
    {"halves", "x=4,y=4,z=4", "(4096, 4096:(2:2@x):(2:2@y):(2:2@z)) + P[2:1@x,2:1@y,2:1@z]",
     "(4096:(2:2@z):(2:1@x), 4096)"},
    {"eighths", "x=8,y=8,z=8", "(512:8@x, 512:(2:1@z), 512:(4:2@z)) + P[y]",
     "(512:(2:1@z), 512:(4:2@y), 512:(2:1@y)) + P[x]"},
    {"many_halves", "x=8,y=8,z=8", "(512, 512:8@x, 512:8@y)",
     "(512:(2:1@x), 512:(2:1@z):(4:2@z), 512:(4:2@x)) + P[y]"},
    {"no_nesting", "x=6,y=4,z=9", "(5184:z, 5184) + P[x,y]", "(5184:x:y, 5184)"},
    {"no_nesting_two", "x=2,y=4,z=3", "(4608:x, 27648) + P[y]", "(4608:z, 27648)"},
};

void HardPlan(benchmark::State& state) {
  const HardPair& pair = kHardPairs[state.range(0)];
  AxisRegistry axes = AxisRegistry::standard();
  const Mesh mesh = Mesh::parse(pair.mesh, axes).value();
  const Layout from = parse_layout(pair.from, axes).value();
  const Layout to = parse_layout(pair.to, axes).value();
  Plan plan;
  for (auto _ : state) {
    plan = plan_redistribution(from, to, mesh, axes).value();
    benchmark::DoNotOptimize(plan);
  }
  state.SetLabel(pair.label);
  state.counters["states"] = plan.states;
  state.counters["predicted_us"] = plan.seconds * 1e6;
}
BENCHMARK(HardPlan)->DenseRange(0, std::size(kHardPairs) - 1)->Unit(benchmark::kMicrosecond);

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
