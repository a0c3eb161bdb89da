#include <algorithm>
#include <map>
#include <numeric>

#include "parallel/pipeline/cut.h"

namespace heddle::pipeline {

namespace {

double weight_of(const CutGraph::Node& node) { return node.forward + node.backward; }

// Numbers from 0 in the order of the first member.
std::vector<int> numbered(const std::vector<int>& groups) {
  std::map<int, int> numbers;
  std::vector<int> out;
  for (int g : groups)
    out.push_back(numbers.try_emplace(g, static_cast<int>(numbers.size())).first->second);
  return out;
}

// One round: a node joins its only neighbour before it, or its only one after it, which never makes
// a circle. Each node takes part once. Whether anything was joined.
bool join_neighbours(Merged& all, double most_weight) {
  const CutGraph& graph = all.graph;
  const std::size_t count = graph.nodes.size();
  std::vector<std::vector<int>> before(count), after(count);
  for (const auto& [a, b] : graph.constraints()) {
    before[static_cast<std::size_t>(b)].push_back(a);
    after[static_cast<std::size_t>(a)].push_back(b);
  }
  std::vector<int> group(count);
  std::iota(group.begin(), group.end(), 0);
  std::vector<bool> taken(count, false);
  bool any = false;
  auto join = [&](std::size_t a, std::size_t b) {
    if (taken[a] || taken[b]) return;
    if (weight_of(graph.nodes[a]) + weight_of(graph.nodes[b]) > most_weight) return;
    group[std::max(a, b)] = static_cast<int>(std::min(a, b));
    taken[a] = taken[b] = any = true;
  };
  for (std::size_t n = 0; n < count; ++n) {
    if (before[n].size() == 1) join(static_cast<std::size_t>(before[n][0]), n);
    if (after[n].size() == 1) join(n, static_cast<std::size_t>(after[n][0]));
  }
  if (!any) return false;
  Merged next = merged(graph, numbered(group));
  for (int& node : all.node_of) node = next.node_of[static_cast<std::size_t>(node)];
  all.graph = std::move(next.graph);
  return true;
}

// Neighbours in an order in which constraints go forward may always be joined.
void join_in_a_row(Merged& all, std::size_t most) {
  const std::vector<int> row = sorted(all.graph);
  std::vector<std::pair<int, double>> runs;  // how many nodes, and what they take
  for (int n : row) runs.emplace_back(1, weight_of(all.graph.nodes[static_cast<std::size_t>(n)]));
  while (runs.size() > most) {
    std::size_t least = 0;
    for (std::size_t i = 0; i + 1 < runs.size(); ++i)
      if (runs[i].second + runs[i + 1].second < runs[least].second + runs[least + 1].second)
        least = i;
    runs[least].first += runs[least + 1].first;
    runs[least].second += runs[least + 1].second;
    runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(least) + 1);
  }
  std::vector<int> group(row.size());
  std::size_t at = 0;
  for (std::size_t g = 0; g < runs.size(); ++g)
    for (int i = 0; i < runs[g].first; ++i)
      group[static_cast<std::size_t>(row[at++])] = static_cast<int>(g);
  Merged next = merged(all.graph, group);
  for (int& node : all.node_of) node = next.node_of[static_cast<std::size_t>(node)];
  all.graph = std::move(next.graph);
}

}  // namespace

Merged coarsened(const CutGraph& graph, std::size_t most) {
  Merged all{graph, std::vector<int>(graph.nodes.size())};
  std::iota(all.node_of.begin(), all.node_of.end(), 0);
  double weight = 0;
  for (const CutGraph::Node& node : graph.nodes) weight += weight_of(node);
  while (all.graph.nodes.size() > most &&
         join_neighbours(all, weight / static_cast<double>(most))) {
  }
  if (all.graph.nodes.size() > most) join_in_a_row(all, most);
  return all;
}

}  // namespace heddle::pipeline
