// Fusion plans against the best one of all, on graphs that are small enough to look at every plan.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "heddle/builder.h"
#include "heddle/op.h"
#include "heddle/simplify.h"
#include "stitch/cost.h"
#include "stitch/explore.h"
#include "stitch/latency.h"
#include "stitch/loop_plan.h"

namespace heddle {
namespace {

// A random graph of elementwise ops, broadcasts, transposes and reductions over rows and columns.
Program random_program(unsigned seed, int ops) {
  std::mt19937 random(seed);
  auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  Builder b;
  const Type matrix = Type::tensor(DType::f32, {512, 512});
  b.function("main", {matrix, matrix}, [&](const Vars& in) -> Vars {
    Vars matrices = in, vectors;
    Vars made;
    for (int i = 0; i < ops; ++i) {
      const Var x = matrices[pick(matrices.size())], y = matrices[pick(matrices.size())];
      switch (pick(vectors.empty() ? 5 : 6)) {
        case 0:
          made.push_back(b.op("exponential", {x}));
          break;
        case 1:
          made.push_back(b.transpose(x, {1, 0}));
          break;
        case 2:
          made.push_back(b.reduce(x, {static_cast<std::int64_t>(pick(2))}, "add"));
          vectors.push_back(made.back());
          continue;
        case 5:
          made.push_back(b.broadcast(vectors[pick(vectors.size())], matrix.shape,
                                     {static_cast<std::int64_t>(pick(2))}));
          break;
        default:
          made.push_back(x * y);
      }
      matrices.push_back(made.back());
    }
    return {made.back(), made[made.size() / 2]};
  });
  return simplify(b.finish().value()).value();  // without what nobody uses
}

struct Setting {
  explicit Setting(const Program& program)
      : body(program.functions[0].body),
        graph(make_graph(program, body, nullptr)),
        readers(program, body),
        cost(graph, machine) {}
  RegionId body;
  MachineFigures machine;
  Graph graph;
  Readers readers;
  CostModel cost;

  StitchGroup group(const Pattern& p) const {
    std::vector<OpId> ops;
    for (Vertex v : p) ops.push_back(graph.ops[v]);
    return make_group(*graph.program, readers, std::move(ops));
  }
  // By the full evaluator.
  double full(const Pattern& p) const {
    return choose_launch(*graph.program, group(p), machine).value().best.seconds;
  }

  bool legal(const Pattern& p) const {
    if (!is_convex(graph, p)) return false;
    std::vector<OpId> ops;
    for (Vertex v : p) ops.push_back(graph.ops[v]);
    return p.size() == 1 ||
           plan_loops(*graph.program, make_group(*graph.program, readers, ops), machine).ok();
  }
};

double cost_of(const Setting& s, const std::vector<Pattern>& plan) {
  std::vector<bool> covered(s.graph.size(), false);
  double sum = 0;
  for (const Pattern& p : plan) {
    sum += s.cost.kernel(p);
    for (Vertex v : p) covered[v] = true;
  }
  for (Vertex v = 0; v < s.graph.size(); ++v)
    if (!covered[v]) sum += s.cost.kernel({v});
  return sum;
}

double full_cost_of(const Setting& s, const std::vector<Pattern>& plan) {
  std::vector<bool> covered(s.graph.size(), false);
  double sum = 0;
  for (const Pattern& p : plan) {
    sum += s.full(p);
    for (Vertex v : p) covered[v] = true;
  }
  for (Vertex v = 0; v < s.graph.size(); ++v)
    if (!covered[v]) sum += s.full({v});
  return sum;
}

// The cheapest way to run all: sets that are closed under producers, one kernel after the other.
double cheapest(const Setting& s) {
  const std::size_t n = s.graph.size();
  const std::size_t all = (std::size_t{1} << n) - 1;
  auto closed = [&](std::size_t set) {
    for (Vertex v = 0; v < n; ++v)
      if (set >> v & 1)
        for (Vertex p : s.graph.producers[v])
          if (!(set >> p & 1)) return false;
    return true;
  };
  std::vector<double> group(all + 1, -1), best(all + 1, INFINITY);
  auto cost = [&](std::size_t set) {
    if (group[set] >= 0) return group[set];
    Pattern p;
    for (Vertex v = 0; v < n; ++v)
      if (set >> v & 1) p.push_back(v);
    return group[set] = s.legal(p) ? s.cost.kernel(p) : INFINITY;
  };
  best[0] = 0;
  for (std::size_t done = 0; done <= all; ++done) {
    if (best[done] == INFINITY) continue;
    const std::size_t rest = all & ~done;
    for (std::size_t next = rest; next != 0; next = (next - 1) & rest)
      if (closed(done | next))
        best[done | next] = std::min(best[done | next], best[done] + cost(next));
  }
  return best[all];
}

TEST(Explore, PlansAreNearTheBestOfAll) {
  double product = 1;
  int count = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const Program program = random_program(seed, 14);
    const Setting s(program);
    if (s.graph.size() < 4 || s.graph.size() > 12) continue;
    const std::vector<Pattern> plan =
        explore(s.graph, s.readers, {.fuse = true, .machine = s.machine}).patterns;
    const double got = cost_of(s, plan), best = cheapest(s), apart = cost_of(s, {});
    ASSERT_GE(got, best * (1 - 1e-9)) << seed;
    ASSERT_LE(got, apart * (1 + 1e-9)) << seed << ": worse than every op by itself";
    EXPECT_LE(got, 1.6 * best) << seed;
    EXPECT_LE(full_cost_of(s, plan), full_cost_of(s, {}) * (1 + 1e-9))
        << seed << ": worse than every op by itself, by the full evaluator";
    for (const Pattern& p : plan) EXPECT_TRUE(s.legal(p)) << seed;
    product *= got / best;
    ++count;
  }
  EXPECT_GE(count, 100);
  EXPECT_LE(std::pow(product, 1.0 / count), 1.03);
  RecordProperty("geomean_to_best", std::to_string(std::pow(product, 1.0 / count)));
}

// Whatever is chosen, the kernels can run one after the other.
TEST(Explore, NothingWaitsForItself) {
  for (unsigned seed = 1000; seed < 1100; ++seed) {
    const Program program = random_program(seed, 40);
    const Setting s(program);
    const StitchPlan plan = stitch(program, s.body).value();
    std::vector<bool> there(program.value_count(), false);
    for (ValueId v : program.region(s.body).args) there[v] = true;
    for (OpId id : program.region(s.body).ops)
      if (program.op(id).def->form == Form::constant)
        there[program.result(program.op(id), 0)] = true;
    std::set<OpId> ops;  // a value that is free to make may be made twice
    for (const StitchUnit& unit : plan.units) {
      for (const StitchGroup& g : unit.kernels)
        for (ValueId v : g.inputs) EXPECT_TRUE(there[v]) << seed;
      for (const StitchGroup& g : unit.kernels) {
        for (ValueId v : g.outputs) there[v] = true;
        ops.insert(g.ops.begin(), g.ops.end());
      }
    }
    EXPECT_EQ(ops.size(), s.graph.size()) << seed;
  }
}

}  // namespace
}  // namespace heddle
