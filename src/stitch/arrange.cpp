// From patterns to a plan: an order in which they can run, and launches.
#include <algorithm>
#include <map>

#include "stitch/explore.h"

namespace heddle {

namespace {

struct Contracted {
  std::vector<std::size_t> unit_of;  // by vertex
  std::vector<Pattern> units;
};

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

// The longest way to each unit; SIZE_MAX for units that lie on a cycle or behind one.
std::vector<std::size_t> levels(const Graph& graph, const Contracted& c) {
  const std::size_t n = c.units.size();
  std::vector<std::vector<std::size_t>> after(n);
  std::vector<std::size_t> waits(n, 0), level(n, SIZE_MAX);
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
  std::vector<std::size_t> open;
  std::vector<std::size_t> reached(n, 0);
  for (std::size_t u = 0; u < n; ++u)
    if (waits[u] == 0) open.push_back(u);
  while (!open.empty()) {
    const std::size_t u = open.back();
    open.pop_back();
    level[u] = reached[u];
    for (std::size_t w : after[u]) {
      reached[w] = std::max(reached[w], reached[u] + 1);
      if (--waits[w] == 0) open.push_back(w);
    }
  }
  return level;
}

}  // namespace

Expected<StitchPlan> arrange(const Graph& graph, const Readers& readers, Exploration found) {
  const Contracted c = contract(graph, found.patterns);
  const std::vector<std::size_t> level = levels(graph, c);
  HEDDLE_CHECK(std::ranges::find(level, SIZE_MAX) == level.end(), "kernels wait for one another");
  std::map<std::size_t, std::vector<std::size_t>> by_level;
  for (std::size_t u = 0; u < c.units.size(); ++u) by_level[level[u]].push_back(u);
  StitchPlan plan;
  for (auto& [l, units] : by_level) {
    std::sort(units.begin(), units.end(), [&](std::size_t a, std::size_t b) {
      return c.units[a].front() < c.units[b].front();
    });
    StitchUnit launch;
    for (std::size_t u : units) {
      const Vertex first = c.units[u].front();
      if (!graph.stitchable[first]) {
        plan.units.push_back({.kernels = {}, .op = graph.ops[first]});
        continue;
      }
      std::vector<OpId> ops;
      for (Vertex v : c.units[u]) ops.push_back(graph.ops[v]);
      StitchGroup group = make_group(*graph.program, readers, std::move(ops));
      if (u < found.choices.size()) group.choice = found.choices[u];
      if (!group.outputs.empty()) launch.kernels.push_back(std::move(group));
    }
    if (!launch.kernels.empty()) plan.units.push_back(std::move(launch));
  }
  return plan;
}

}  // namespace heddle
