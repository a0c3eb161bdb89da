#include "stitch/sink.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include "stitch/cost.h"

namespace heddle {

namespace {

class Sinking {
 public:
  Sinking(const Graph& graph, const UnitTurns& all) : graph_(graph), all_(all) {
    for (Vertex v = 0; v < graph.size(); ++v)
      for (ValueId value : graph.reads[v]) readers_[value].push_back(all.unit_of[v]);
    for (std::size_t u = 0; u < all.units.size(); ++u)
      if (is_kernel(u)) launches_.insert(all.turn[u]);
  }

  // Those that wait for others first, so that these can follow.
  void run() {
    std::vector<std::size_t> order(all_.units.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, std::ranges::greater(),
                      [&](std::size_t u) { return std::pair(all_.way[u], u); });
    for (std::size_t u : order)
      if (is_kernel(u)) sink(u);
  }

 private:
  bool is_kernel(std::size_t u) const { return graph_.stitchable[all_.units[u].front()]; }

  void sink(std::size_t u) {
    const auto escapes = [&](Vertex v) { return graph_.escapes[v]; };
    if (std::ranges::any_of(all_.units[u], escapes)) return;
    Turn first_use = {SIZE_MAX, SIZE_MAX};
    for (Vertex v : all_.units[u])
      for (Vertex c : graph_.consumers[v])
        if (all_.unit_of[c] != u) first_use = std::min(first_use, all_.turn[all_.unit_of[c]]);
    const auto behind = launches_.lower_bound(first_use);
    if (first_use.first == SIZE_MAX || behind == launches_.begin()) return;
    const Turn last = *std::prev(behind);
    if (last > all_.turn[u] && written(u) > kept_longer(u)) all_.turn[u] = last;
  }

  std::int64_t written(std::size_t u) const {
    std::int64_t bytes = 0;
    for (Vertex v : all_.units[u]) {
      const bool leaves =
          std::ranges::any_of(graph_.consumers[v], [&](Vertex c) { return all_.unit_of[c] != u; });
      const Op& op = graph_.op(v);
      for (std::size_t i = 0; leaves && i < op.result_count; ++i)
        bytes += memory_bytes(*graph_.program, graph_.program->result(op, i));
    }
    return bytes;
  }

  // What is computed and that nobody reads later than this unit does now. Arguments stay anyway.
  std::int64_t kept_longer(std::size_t u) const {
    std::set<ValueId> last;
    for (Vertex v : all_.units[u])
      for (ValueId value : graph_.reads[v]) {
        const bool computed = graph_.program->value(value).op != kNone;
        const auto is_no_later = [&](std::size_t w) { return all_.turn[w] <= all_.turn[u]; };
        if (computed && std::ranges::all_of(readers_.at(value), is_no_later)) last.insert(value);
      }
    std::int64_t bytes = 0;
    for (ValueId value : last)
      if (!is_own(value, u)) bytes += memory_bytes(*graph_.program, value);
    return bytes;
  }

  bool is_own(ValueId value, std::size_t u) const {
    const OpId maker = graph_.program->value(value).op;
    return std::ranges::any_of(all_.units[u], [&](Vertex v) { return graph_.ops[v] == maker; });
  }

  const Graph& graph_;
  const UnitTurns& all_;
  std::unordered_map<ValueId, std::vector<std::size_t>> readers_;  // units
  std::set<Turn> launches_;
};

}  // namespace

void sink_kernels(const Graph& graph, const UnitTurns& all) { Sinking(graph, all).run(); }

}  // namespace heddle
