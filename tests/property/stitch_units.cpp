// Which units can be joined, and which patterns are convex, against plain searches of the graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "heddle/builder.h"
#include "stitch/alike.h"
#include "stitch/units.h"

namespace heddle {
namespace {

using Random = std::mt19937;

std::size_t pick(Random& random, std::size_t n) {
  return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
}

// Sums of two earlier values each; near ones more often where `local`.
Program random_sums(Random& random, std::size_t ops, bool local) {
  Builder b;
  b.function("main", {Type::tensor(DType::f32, {8})}, [&](const Vars& in) -> Vars {
    Vars all = in;
    for (std::size_t i = 0; i < ops; ++i) {
      const std::size_t reach = local ? std::min<std::size_t>(all.size(), 6) : all.size();
      const std::size_t from = all.size() - reach;
      all.push_back(all[from + pick(random, reach)] + all[from + pick(random, reach)]);
    }
    return {all.back()};
  });
  return b.finish().value();
}

Pattern random_pattern(Random& random, std::size_t vertices) {
  Pattern p;
  const std::size_t first = pick(random, vertices), span = 1 + pick(random, 10);
  for (std::size_t v = first; v < std::min(vertices, first + span); ++v)
    if (p.empty() || pick(random, 2) == 0) p.push_back(static_cast<Vertex>(v));
  return p;
}

// Vertices that can be reached from a set, by edges between units: a unit is reached as a whole.
std::vector<bool> reached(const Graph& graph, const Units& units, const Pattern& from,
                          UnitId without) {
  std::vector<bool> seen(graph.size(), false);
  Pattern open;
  auto enter = [&](UnitId u) {
    for (Vertex v : units[u])
      if (!seen[v]) {
        seen[v] = true;
        open.push_back(v);
      }
  };
  for (Vertex v : from)
    for (Vertex c : graph.consumers[v])
      if (units.of(c) != units.of(from[0]) && units.of(c) != without) enter(units.of(c));
  while (!open.empty()) {
    const Vertex v = open.back();
    open.pop_back();
    for (Vertex c : graph.consumers[v]) enter(units.of(c));
  }
  return seen;
}

bool could_join(const Graph& graph, const Units& units, UnitId a, UnitId b) {
  return !reached(graph, units, units[a], b)[units[b][0]] &&
         !reached(graph, units, units[b], a)[units[a][0]];
}

bool plainly_convex(const Graph& graph, const Pattern& p) {
  std::vector<bool> inside(graph.size(), false), outside(graph.size(), false);
  for (Vertex v : p) inside[v] = true;
  // In the order of the vertices: what hangs on the pattern by way of others.
  for (Vertex v = 0; v < graph.size(); ++v)
    for (Vertex from : graph.producers[v])
      if (outside[from] || (inside[from] && !inside[v])) {
        if (inside[v]) return false;
        outside[v] = true;
      }
  return true;
}

TEST(Units, JoinWhereNoPathLeadsThroughOthers) {
  Random random(11);
  std::size_t joined = 0, refused = 0;
  for (int turn = 0; turn < 60; ++turn) {
    const Program program = random_sums(random, 40, turn % 2 == 0);
    const Graph graph = make_graph(program, program.functions[0].body, nullptr);
    Units units(graph, {});
    for (int i = 0; i < 200; ++i) {
      const UnitId a = units.of(static_cast<Vertex>(pick(random, graph.size())));
      const UnitId b = units.of(static_cast<Vertex>(pick(random, graph.size())));
      if (a == b) continue;
      const bool expected = could_join(graph, units, a, b);
      ASSERT_EQ(units.can_join(a, b), expected) << turn << " " << i;
      ++(expected ? joined : refused);
      if (expected && units[a].size() + units[b].size() < 8) units.join(a, b);
    }
  }
  EXPECT_GT(joined, 500U);
  EXPECT_GT(refused, 500U);
}

TEST(Units, PatternsThatWaitForOneAnotherAreTakenApart) {
  Random random(12);
  std::size_t apart = 0;
  for (int turn = 0; turn < 300; ++turn) {
    const Program program = random_sums(random, 24, true);
    const Graph graph = make_graph(program, program.functions[0].body, nullptr);
    std::vector<Pattern> patterns;
    std::vector<bool> covered(graph.size(), false);
    for (int i = 0; i < 6; ++i) {
      const Pattern p = random_pattern(random, graph.size());
      if (p.size() < 2 || !is_convex(graph, p)) continue;
      if (std::ranges::any_of(p, [&](Vertex v) { return covered[v]; })) continue;
      for (Vertex v : p) covered[v] = true;
      patterns.push_back(p);
    }
    const std::size_t given = patterns.size();
    const Units units(graph, patterns);
    std::size_t left = 0;
    for (UnitId u = 0; u < units.size(); ++u) {
      left += units[u].size() > 1;
      if (units[u].empty()) continue;
      EXPECT_FALSE(reached(graph, units, units[u], kNone)[units[u][0]]) << turn;
    }
    apart += given - left;
  }
  EXPECT_GT(apart, 0U);
}

TEST(Graph, ConvexityIsThatOfAPlainSearch) {
  Random random(13);
  std::size_t yes = 0, no = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    const Program program = random_sums(random, 24, turn % 2 == 0);
    const Graph graph = make_graph(program, program.functions[0].body, nullptr);
    const Pattern p = random_pattern(random, graph.size());
    const bool expected = plainly_convex(graph, p);
    ASSERT_EQ(is_convex(graph, p), expected) << turn;
    ++(expected ? yes : no);
  }
  EXPECT_GT(yes, 300U);
  EXPECT_GT(no, 300U);
}

// Two layers that do the same are alike; a third one that sums over another axis, gives more away
// or takes its operands in another order is not.
TEST(Alike, PatternsOfEqualLayersHaveOneKey) {
  Builder b;
  const Type square = Type::tensor(DType::f32, {8, 8});
  b.function("main", {square}, [&](const Vars& in) -> Vars {
    auto layer = [&](Var x, std::int64_t axis, bool turned) {
      const Var e = b.op("exponential", {x});
      const Var s = b.broadcast(b.reduce(e, {axis}, "add"), square.shape, {1 - axis});
      return turned ? s - e : e - s;
    };
    const Var one = layer(in[0], 0, false), two = layer(one, 0, false);
    const Var three = layer(two, 1, false), four = layer(three, 0, true);
    return {four, layer(four, 0, false)};
  });
  const Program program = b.finish().value();
  const Graph graph = make_graph(program, program.functions[0].body, nullptr);
  ASSERT_EQ(graph.size(), 20U);
  const Alike alike(graph);
  auto key = [&](Vertex layer) {
    return alike.key({4 * layer, 4 * layer + 1, 4 * layer + 2, 4 * layer + 3});
  };
  EXPECT_EQ(key(0), key(1));
  EXPECT_NE(key(0), key(2));
  EXPECT_NE(key(0), key(3));
  EXPECT_EQ(key(0), key(4));
  EXPECT_NE(alike.key({0, 1}), alike.key({0, 3}));
  EXPECT_EQ(alike.key({0, 1}), alike.key({4, 5}));
}

}  // namespace
}  // namespace heddle
