// From patterns to a plan: an order in which they can run, and launches.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "heddle/op.h"
#include "stitch/copies.h"
#include "stitch/explore.h"
#include "stitch/sink.h"

namespace heddle {

namespace {

Contracted contract(const Graph& graph, const std::vector<Pattern>& patterns) {
  Contracted c;
  c.unit_of.assign(graph.size(), SIZE_MAX);
  for (const Pattern& p : patterns) {
    for (Vertex v : p) c.unit_of[v] = c.units.size();
    c.units.push_back(p);
  }
  for (Vertex v = 0; v < graph.size(); ++v)
    if (c.unit_of[v] == SIZE_MAX) {
      c.unit_of[v] = c.units.size();
      c.units.push_back({v});
    }
  return c;
}

constexpr Turn kNever = {SIZE_MAX, SIZE_MAX};

// Where each unit comes, and the longest way to it. Kernels of the same turn become one launch,
// behind the calls of that turn: there is no plan with fewer launches.
struct Places {
  std::vector<Turn> turn;  // kNever for units that lie on a cycle or behind one
  std::vector<std::size_t> way;
};

bool begins_collective(const Graph& graph, const Pattern& unit) {
  return graph.op(unit.front()).def->cls == OpClass::communicate;
}

// Others wait for the turn of a kernel that leaves something; and for a collective, so that kernels
// of its turn run beside it.
bool takes_a_turn(const Graph& graph, const Copies& copies, const Pattern& unit) {
  if (!graph.stitchable[unit.front()]) return begins_collective(graph, unit);
  return std::ranges::any_of(unit, [&](Vertex v) { return copies.must_be_kept(v); });
}

Places find_places(const Graph& graph, const Copies& copies, const Contracted& c) {
  const std::size_t n = c.units.size();
  std::vector<std::vector<std::size_t>> after(n);
  std::vector<std::size_t> waits(n, 0);
  for (std::size_t u = 0; u < n; ++u) {
    std::vector<std::size_t> next;
    for (Vertex v : c.units[u])
      for (Vertex w : graph.consumers[v])
        if (c.unit_of[w] != u) next.push_back(c.unit_of[w]);
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    for (std::size_t w : next) ++waits[w];
    after[u] = std::move(next);
  }
  Places places{.turn = std::vector<Turn>(n, kNever), .way = std::vector<std::size_t>(n, 0)};
  std::vector<std::size_t> open;
  std::vector<Turn> reached(n);
  for (std::size_t u = 0; u < n; ++u) {
    // Vertices ascend, and so do their stretches.
    reached[u] = {graph.stretch[c.units[u].front()], 0};
    if (waits[u] == 0) open.push_back(u);
  }
  while (!open.empty()) {
    const std::size_t u = open.back();
    open.pop_back();
    places.turn[u] = reached[u];
    Turn behind = reached[u];
    if (takes_a_turn(graph, copies, c.units[u])) ++behind.second;
    for (std::size_t w : after[u]) {
      reached[w] = std::max(reached[w], behind);
      places.way[w] = std::max(places.way[w], places.way[u] + 1);
      if (--waits[w] == 0) open.push_back(w);
    }
  }
  return places;
}

// The group of a pattern; it makes what is free by itself, and leaves only what others cannot make.
StitchGroup group_of(const Graph& graph, const Readers& readers, const Copies& copies,
                     const Pattern& pattern) {
  std::vector<OpId> ops;
  std::unordered_set<ValueId> own;  // that nobody needs from here
  const Pattern more = copies.needed_by(pattern);
  const auto add = [&](Vertex v, bool is_copy) {
    ops.push_back(graph.ops[v]);
    if (is_copy || !copies.must_be_kept(v)) own.insert(graph.program->result(graph.op(v), 0));
  };
  for (Vertex v : pattern) add(v, false);
  for (Vertex v : more) add(v, true);
  StitchGroup group = make_group(*graph.program, readers, std::move(ops));
  std::erase_if(group.outputs, [&](ValueId v) { return own.contains(v); });
  for (Vertex v : pattern) {
    const ValueId made = graph.program->result(graph.op(v), 0);
    if (copies.is_read_by_a_copy(v) && std::ranges::find(group.outputs, made) == group.outputs.end())
      group.outputs.push_back(made);
  }
  return group;
}

}  // namespace

Expected<StitchPlan> arrange(const Graph& graph, const Readers& readers, Exploration found,
                             const FoldedMoves& moves) {
  const Contracted c = contract(graph, found.patterns);
  const Copies copies(graph, c);
  auto [turn, way] = find_places(graph, copies, c);
  HEDDLE_CHECK(std::ranges::find(turn, kNever) == turn.end(), "kernels wait for one another");
  sink_kernels(graph, {c.units, c.unit_of, way, turn});
  std::map<Turn, std::vector<std::size_t>> by_turn;
  for (std::size_t u = 0; u < c.units.size(); ++u) by_turn[turn[u]].push_back(u);
  StitchPlan plan;
  for (auto& [when, units] : by_turn) {
    std::ranges::sort(units, {}, [&](std::size_t u) {
      const Vertex first = c.units[u].front();
      // What others may have to wait for begins first.
      return std::tuple(graph.stitchable[first] ? SIZE_MAX : way[u],
                        !begins_collective(graph, c.units[u]), first);
    });
    StitchUnit launch;
    for (std::size_t u : units) {
      const Vertex first = c.units[u].front();
      if (!graph.stitchable[first]) {
        StitchUnit alone{.kernels = {}, .op = graph.ops[first]};
        if (auto it = moves.products.find(alone.op); it != moves.products.end())
          alone.views = it->second;
        plan.units.push_back(std::move(alone));
        continue;
      }
      StitchGroup group = group_of(graph, readers, copies, c.units[u]);
      if (u < found.launches.size()) {
        group.choice = found.launches[u].choice;
        group.seconds = found.launches[u].seconds;
        group.bytes_again = found.launches[u].bytes_again;
      }
      if (!group.outputs.empty()) launch.kernels.push_back(std::move(group));
    }
    if (!launch.kernels.empty()) plan.units.push_back(std::move(launch));
  }
  return plan;
}

}  // namespace heddle
