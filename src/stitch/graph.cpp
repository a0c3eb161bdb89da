#include "stitch/graph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "heddle/op.h"
#include "heddle/stitch.h"
#include "stitch/group.h"

namespace heddle {

namespace {

void make_unique(std::vector<Vertex>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

Graph make_graph(const Program& program, RegionId region, const FoldedMoves& moves) {
  Graph graph;
  graph.program = &program;
  graph.region = region;
  std::unordered_map<OpId, Vertex> vertex_of;
  std::unordered_set<ValueId> returned;
  for (OpId id : program.region(region).ops) {
    const Op& op = program.op(id);
    if (moves.dropped.contains(id)) continue;
    if (is_work(op)) {
      vertex_of[id] = static_cast<Vertex>(graph.ops.size());
      if (auto it = moves.products.find(id); it != moves.products.end())
        vertex_of[program.value(it->second.result.value).op] = vertex_of[id];
      graph.ops.push_back(id);
    } else if (op.def->form == Form::terminator) {
      for (ValueId v : program.operands(op)) returned.insert(v);
    }
  }
  const std::size_t n = graph.size();
  graph.producers.resize(n);
  graph.consumers.resize(n);
  graph.reads.resize(n);
  for (Vertex v = 0; v < n; ++v) {
    const Op& op = graph.op(v);
    graph.stitchable.push_back(is_stitchable(program, op));
    const auto product = moves.products.find(graph.ops[v]);
    bool escapes =
        product != moves.products.end() && returned.contains(product->second.result.value);
    for (std::size_t i = 0; i < op.result_count; ++i)
      escapes |= returned.contains(program.result(op, i));
    graph.escapes.push_back(escapes);
    for (ValueId value : values_read(program, op, graph.ops[v], moves)) {
      const OpId from = program.value(value).op;
      if (auto it = vertex_of.find(from); it != vertex_of.end()) {
        graph.producers[v].push_back(it->second);
        graph.consumers[it->second].push_back(v);
      }
      if (std::find(graph.reads[v].begin(), graph.reads[v].end(), value) == graph.reads[v].end())
        graph.reads[v].push_back(value);
    }
    make_unique(graph.producers[v]);
  }
  for (auto& list : graph.consumers) make_unique(list);
  return graph;
}

bool is_convex(const Graph& graph, const Pattern& pattern) {
  if (pattern.size() < 2) return true;
  const Vertex last = pattern.back();
  auto inside = [&](Vertex v) { return std::binary_search(pattern.begin(), pattern.end(), v); };
  graph.begin_walk();
  std::vector<Vertex> open;
  for (Vertex v : pattern)
    for (Vertex c : graph.consumers[v])
      if (c < last && !inside(c) && graph.mark(c)) open.push_back(c);
  while (!open.empty()) {
    const Vertex v = open.back();
    open.pop_back();
    for (Vertex c : graph.consumers[v]) {
      if (c > last) continue;
      if (inside(c)) return false;
      if (graph.mark(c)) open.push_back(c);
    }
  }
  return true;
}

Pattern union_of(const Pattern& a, const Pattern& b) {
  Pattern all;
  all.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

}  // namespace heddle
