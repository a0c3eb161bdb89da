// A kernel that has all the ops that it may have often holds pieces that have nothing but numbers
// in common, as the tensors of an optimiser. Where the last of them was cut, both ends leave.
#include <algorithm>
#include <map>

#include "stitch/merge.h"
#include "stitch/units.h"

namespace heddle {

namespace {

class CutMender {
 public:
  CutMender(const Graph& graph, const CostModel& cost, const IsLegal& is_legal,
            std::vector<Pattern> plan)
      : graph_(graph), cost_(cost), is_legal_(is_legal), patterns_(std::move(plan)) {
    unit_of_.assign(graph.size(), kNone);
    for (std::uint32_t u = 0; u < patterns_.size(); ++u)
      for (Vertex v : patterns_[u]) unit_of_[v] = u;
    for (Vertex v = 0; v < graph.size(); ++v)
      if (unit_of_[v] == kNone) {
        unit_of_[v] = static_cast<std::uint32_t>(patterns_.size());
        patterns_.push_back({v});
      }
  }

  // Whether any was mended.
  bool run() {
    bool any = false;
    for (Vertex v = 0; v < graph_.size(); ++v) {
      if (!graph_.stitchable[v] || !is_tensor(v)) continue;
      for (Vertex w : graph_.consumers[v]) any = mend(v, w) || any;
    }
    return any;
  }

  // No unit waits for itself.
  std::optional<std::vector<Pattern>> plan() const {
    std::vector<Pattern> all;
    for (const Pattern& p : patterns_)
      if (p.size() > 1) all.push_back(p);
    std::ranges::sort(all);
    std::vector<Pattern> in_order = Units(graph_, all).take();
    std::erase_if(in_order, [](const Pattern& p) { return p.size() < 2; });
    std::ranges::sort(in_order);
    if (in_order != all) return std::nullopt;
    return all;
  }

 private:
  // More than one number: what is cheap to hand from kernel to kernel holds nothing together.
  bool is_tensor(Vertex v) const {
    return graph_.program->type_of(graph_.program->result(graph_.op(v), 0)).elements() > 1;
  }

  // What is reached from a vertex within its unit by way of tensors.
  Pattern strand(Vertex v) const {
    const std::uint32_t unit = unit_of_[v];
    Pattern found = {v};
    const auto visit = [&](Vertex w) {
      if (unit_of_[w] == unit && std::ranges::find(found, w) == found.end()) found.push_back(w);
    };
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (Vertex p : graph_.producers[found[i]])
        if (is_tensor(p)) visit(p);
      if (!is_tensor(found[i])) continue;
      for (Vertex c : graph_.consumers[found[i]]) visit(c);
    }
    std::ranges::sort(found);
    return found;
  }

  Pattern without(const Pattern& all, const Pattern& less) const {
    Pattern rest;
    std::ranges::set_difference(all, less, std::back_inserter(rest));
    return rest;
  }
  double seconds(const Pattern& p) const { return p.empty() ? 0 : cost_.kernel(p); }
  bool can_be(const Pattern& p) const {
    return p.size() < 2 || (is_convex(graph_, p) && is_legal_(p));
  }

  bool mend(Vertex v, Vertex w) {
    const std::uint32_t a = unit_of_[v], b = unit_of_[w];
    if (a == b || !graph_.stitchable[w]) return false;
    const std::size_t ops = patterns_[a].size() + patterns_[b].size();
    if (ops <= kMostOps) return false;  // others than the limit keep them apart
    const Pattern from = strand(v), to = strand(w), whole = union_of(from, to);
    if (whole.size() > kMostOps) return false;
    const Pattern rest_a = without(patterns_[a], from), rest_b = without(patterns_[b], to);
    if (seconds(rest_a) + seconds(rest_b) + seconds(whole) >=
        seconds(patterns_[a]) + seconds(patterns_[b]))
      return false;
    if (!can_be(whole) || !can_be(rest_a) || !can_be(rest_b)) return false;
    patterns_[a] = rest_a, patterns_[b] = rest_b;
    for (Vertex x : whole) unit_of_[x] = static_cast<std::uint32_t>(patterns_.size());
    patterns_.push_back(whole);
    return true;
  }

  const Graph& graph_;
  const CostModel& cost_;
  const IsLegal& is_legal_;
  std::vector<Pattern> patterns_;
  std::vector<std::uint32_t> unit_of_;
};

}  // namespace

std::vector<Pattern> mend_cuts(const Graph& graph, const CostModel& cost, std::vector<Pattern> plan,
                               const IsLegal& is_legal) {
  const bool was_cut =
      std::ranges::any_of(plan, [](const Pattern& p) { return 2 * p.size() > kMostOps; });
  if (!was_cut) return plan;
  CutMender mender(graph, cost, is_legal, plan);
  if (!mender.run()) return plan;
  return mender.plan().value_or(std::move(plan));
}

}  // namespace heddle
