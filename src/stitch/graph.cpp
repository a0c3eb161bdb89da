#include "stitch/graph.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "heddle/op.h"
#include "heddle/schedule.h"
#include "heddle/stitch.h"
#include "stitch/group.h"

namespace heddle {

namespace {

void make_unique(std::vector<Vertex>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// The order of the schedule, where it counts, as if it were dependences: devices meet in one order,
// and work that is to run beside a collective comes after its begin and before its wait. A kernel
// with ops of both sides is then none.
class ScheduledOrder {
 public:
  ScheduledOrder(Graph& graph, const std::unordered_map<OpId, Vertex>& vertex_of)
      : graph_(graph), vertex_of_(vertex_of) {}

  void add() {
    graph_.stretch.assign(graph_.size(), 0);
    for (Vertex v = 0; v < graph_.size(); ++v) find_wait(v);
    Vertex last_begin = kNone, last_wait = kNone, last_call = kNone;
    for (Vertex v = 0; v < graph_.size(); ++v) {
      const Op& op = graph_.op(v);
      if (const auto wait = wait_of_.find(v); wait != wait_of_.end())
        open_.emplace(v, wait->second);
      if (const auto begin = begin_of_.find(v); begin != begin_of_.end()) {
        open_.erase(begin->second);
        follow(last_wait, v);
      }
      if (is_meeting(*graph_.program, op)) follow(last_begin, v);
      if (is_barrier(v) && last_call != kNone) add_edge(last_call, v);
      if (is_call(v)) last_call = v;
      if (op.def->cls == OpClass::communicate) continue;
      if (!open_.empty() && is_worth_overlapping(*graph_.program, op)) keep_beside(v);
    }
    for (Vertex v = 0, now = 0; v < graph_.size(); ++v) {
      if (borders_.contains(v)) ++now;
      graph_.stretch[v] = now;
    }
  }

 private:
  void find_wait(Vertex v) {
    const OpId begun = awaited_by(*graph_.program, graph_.op(v));
    const auto found = begun == kNone ? vertex_of_.end() : vertex_of_.find(begun);
    if (found == vertex_of_.end() || !wait_of_.emplace(found->second, v).second) return;
    begin_of_.emplace(v, found->second);
  }

  // What stands behind a barrier was put there to be computed no earlier.
  bool is_barrier(Vertex v) const {
    const OpDef& def = *graph_.op(v).def;
    return def.view == ViewKind::always && def.cls == OpClass::control && !begin_of_.contains(v);
  }
  bool is_call(Vertex v) const {
    return !graph_.stitchable[v] && graph_.op(v).def->cls != OpClass::communicate &&
           graph_.op(v).def->view == ViewKind::none;
  }

  void add_edge(Vertex from, Vertex to) {
    graph_.producers[to].push_back(from);
    graph_.consumers[from].push_back(to);
  }
  void follow(Vertex& last, Vertex v) {
    if (last != kNone) add_edge(last, v);
    last = v;
  }

  // Begins come one after the other, and so do waits: the last begin and the next wait are enough.
  void keep_beside(Vertex v) {
    const Vertex begin = open_.rbegin()->first;
    const Vertex wait = std::ranges::min_element(open_, {}, [](const auto& window) {
                          return window.second;
                        })->second;
    add_edge(begin, v);
    add_edge(v, wait);
    borders_.insert({begin, wait});
  }

  Graph& graph_;
  const std::unordered_map<OpId, Vertex>& vertex_of_;
  std::unordered_map<Vertex, Vertex> wait_of_, begin_of_;
  std::map<Vertex, Vertex> open_;  // begun and not yet waited for
  std::unordered_set<Vertex> borders_;
};

}  // namespace

Graph make_graph(const Program& program, RegionId region, const DeviceCalls* calls,
                 const FoldedMoves& moves) {
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
    graph.stitchable.push_back(is_stitchable(program, op, calls));
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
  }
  ScheduledOrder(graph, vertex_of).add();
  graph.depth.assign(n, 0);
  for (Vertex v = 0; v < n; ++v) {
    make_unique(graph.producers[v]);
    for (Vertex p : graph.producers[v])
      graph.depth[v] = std::max(graph.depth[v], graph.depth[p] + 1);
  }
  for (auto& list : graph.consumers) make_unique(list);
  return graph;
}

namespace {

// Whether a path leads from the pattern through other vertices back to it. Two walks take turns:
// down from what the pattern feeds, and up from what feeds it; the first that comes to its end
// decides, so that the cost is that of the smaller one.
class Detour {
 public:
  Detour(const Graph& graph, const Pattern& pattern) : graph_(graph) {
    graph.inside.begin(graph.size());
    graph.below.begin(graph.size());
    graph.above.begin(graph.size());
    for (Vertex v : pattern) graph.inside.set(v);
    for (Vertex v : pattern) {
      for (Vertex c : graph.consumers[v]) note(c, down_, first_, least_, false);
      for (Vertex p : graph.producers[v]) note(p, up_, last_, most_, true);
    }
  }

  bool exists() {
    seed(down_, graph_.below);
    seed(up_, graph_.above);
    while (!down_.empty() && !up_.empty())
      if (step_down() || step_up()) return true;
    return false;
  }

 private:
  // What lies on a detour is no earlier than the first vertex that the pattern feeds, and no later
  // than the last one that feeds it.
  void note(Vertex v, std::vector<Vertex>& list, Vertex& number, std::uint32_t& depth, bool most) {
    if (graph_.inside.has(v)) return;
    list.push_back(v);
    number = most ? std::max(number, v) : std::min(number, v);
    depth = most ? std::max(depth, graph_.depth[v]) : std::min(depth, graph_.depth[v]);
  }
  bool is_between(Vertex v) const {
    return v >= first_ && v <= last_ && graph_.depth[v] >= least_ && graph_.depth[v] <= most_;
  }
  void seed(std::vector<Vertex>& list, Graph::Marks& marks) const {
    std::erase_if(list, [&](Vertex v) { return !is_between(v) || !marks.set(v); });
  }
  bool step_down() {
    const Vertex v = down_.back();
    down_.pop_back();
    if (graph_.above.has(v)) return true;
    for (Vertex c : graph_.consumers[v]) {
      if (graph_.inside.has(c)) return true;
      if (is_between(c) && graph_.below.set(c)) down_.push_back(c);
    }
    return false;
  }
  bool step_up() {
    const Vertex v = up_.back();
    up_.pop_back();
    if (graph_.below.has(v)) return true;
    for (Vertex p : graph_.producers[v]) {
      if (graph_.inside.has(p)) return true;
      if (is_between(p) && graph_.above.set(p)) up_.push_back(p);
    }
    return false;
  }

  const Graph& graph_;
  std::vector<Vertex> down_, up_;
  Vertex first_ = kNone, last_ = 0;
  std::uint32_t least_ = UINT32_MAX, most_ = 0;
};

}  // namespace

bool is_convex(const Graph& graph, const Pattern& pattern) {
  return pattern.size() < 2 || !Detour(graph, pattern).exists();
}

Pattern union_of(const Pattern& a, const Pattern& b) {
  Pattern all;
  all.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

}  // namespace heddle
