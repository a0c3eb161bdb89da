#include "stitch/merge.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace heddle {

namespace {

using UnitId = std::uint32_t;

class Merger {
 public:
  Merger(const Graph& graph, const CostModel& cost, const IsLegal& is_legal)
      : graph_(graph), cost_(cost), is_legal_(is_legal) {}

  std::vector<Pattern> run(std::vector<Pattern> plan) {
    start(std::move(plan));
    for (UnitId u = 0; u < units_.size(); ++u) offer_neighbours(u);
    while (!offers_.empty()) {
      const Offer best = offers_.top();
      offers_.pop();
      if (version_[best.a] != best.version_a || version_[best.b] != best.version_b) continue;
      Pattern both = union_of(units_[best.a], units_[best.b]);
      if (comes_back(both, best.a, best.b) || !is_legal_(both)) continue;
      take(best.a, best.b, std::move(both));
    }
    move_borders();
    std::erase_if(units_, [](const Pattern& p) { return p.size() < 2; });
    return std::move(units_);
  }

 private:
  struct Offer {
    double gain;
    UnitId a, b;
    std::uint32_t version_a, version_b;
    bool operator<(const Offer& o) const {
      return gain != o.gain ? gain < o.gain : std::pair(a, b) > std::pair(o.a, o.b);
    }
  };

  void start(std::vector<Pattern> plan) {
    unit_of_.assign(graph_.size(), 0);
    std::vector<bool> covered(graph_.size(), false);
    units_ = std::move(plan);
    for (const Pattern& p : units_)
      for (Vertex v : p) covered[v] = true;
    for (Vertex v = 0; v < graph_.size(); ++v)
      if (!covered[v]) units_.push_back({v});
    for (UnitId u = 0; u < units_.size(); ++u)
      for (Vertex v : units_[u]) {
        unit_of_[v] = u;
        for (ValueId value : graph_.reads[v]) readers_[value].push_back(v);
      }
    version_.assign(units_.size(), 0);
    walked_.assign(units_.size(), 0);
    seconds_.resize(units_.size());
    for (UnitId u = 0; u < units_.size(); ++u)
      seconds_[u] = mergeable(u) ? cost_.kernel(units_[u]) : 0;
  }

  bool mergeable(UnitId u) const { return graph_.stitchable[units_[u].front()]; }

  // Units that a unit feeds, is fed by, or reads the same large value with.
  std::vector<UnitId> neighbours(UnitId u) const {
    constexpr std::size_t kFewReaders = 12;
    constexpr std::int64_t kLarge = 1 << 10;
    std::vector<UnitId> all;
    for (Vertex v : units_[u]) {
      for (Vertex w : graph_.producers[v]) all.push_back(unit_of_[w]);
      if (graph_.consumers[v].size() <= 4 * kFewReaders)
        for (Vertex w : graph_.consumers[v]) all.push_back(unit_of_[w]);
      for (ValueId value : graph_.reads[v]) {
        const std::vector<Vertex>& others = readers_.at(value);
        if (others.size() > kFewReaders || !graph_.program->type_of(value).is_tensor() ||
            graph_.program->type_of(value).bytes() < kLarge)
          continue;
        for (Vertex w : others) all.push_back(unit_of_[w]);
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::erase(all, u);
    return all;
  }

  void offer_neighbours(UnitId u) {
    if (!mergeable(u)) return;
    for (UnitId w : neighbours(u)) {
      if (!mergeable(w)) continue;
      const double gain = seconds_[u] + seconds_[w] - cost_.kernel(union_of(units_[u], units_[w]));
      const UnitId a = std::min(u, w), b = std::max(u, w);
      if (gain > 0) offers_.push({gain, a, b, version_[a], version_[b]});
    }
  }

  // Whether a path leaves the two and comes back through other units.
  bool comes_back(const Pattern& both, UnitId a, UnitId b) {
    const Vertex last = both.back();
    ++walk_;
    walked_[a] = walked_[b] = walk_;
    std::vector<UnitId> open;
    auto follow = [&](const Pattern& from) {
      for (Vertex v : from)
        for (Vertex w : graph_.consumers[v]) {
          const UnitId u = unit_of_[w];
          if (walked_[u] == walk_ || units_[u].front() > last) continue;
          walked_[u] = walk_;
          open.push_back(u);
        }
    };
    follow(both);
    while (!open.empty()) {
      const UnitId u = open.back();
      open.pop_back();
      for (Vertex v : units_[u])
        for (Vertex w : graph_.consumers[v])
          if (unit_of_[w] == a || unit_of_[w] == b) return true;
      follow(units_[u]);
    }
    return false;
  }

  // A vertex at the end of one kernel whose users are all in another may be better off there: what
  // stands between the two is then its operand.
  void move_borders() {
    for (Vertex v = static_cast<Vertex>(graph_.size()); v-- > 0;) {
      const UnitId from = unit_of_[v];
      if (!mergeable(from) || graph_.escapes[v] || graph_.consumers[v].empty()) continue;
      const UnitId to = unit_of_[graph_.consumers[v][0]];
      if (to == from || !mergeable(to) || units_[from].size() < 2) continue;
      if (!std::all_of(graph_.consumers[v].begin(), graph_.consumers[v].end(),
                       [&](Vertex c) { return unit_of_[c] == to; }))
        continue;
      Pattern less = units_[from], more = union_of(units_[to], {v});
      std::erase(less, v);
      const double now = seconds_[from] + seconds_[to];
      const double then = cost_.kernel(less) + cost_.kernel(more);
      if (then >= now || comes_back(more, to, to) || !is_legal_(less) || !is_legal_(more)) continue;
      unit_of_[v] = to;
      units_[from] = std::move(less);
      units_[to] = std::move(more);
      seconds_[from] = cost_.kernel(units_[from]);
      seconds_[to] = cost_.kernel(units_[to]);
    }
  }

  void take(UnitId a, UnitId b, Pattern both) {
    for (Vertex v : units_[b]) unit_of_[v] = a;
    units_[a] = std::move(both);
    units_[b].clear();
    seconds_[a] = cost_.kernel(units_[a]);
    ++version_[a];
    ++version_[b];
    offer_neighbours(a);
  }

  const Graph& graph_;
  const CostModel& cost_;
  const IsLegal& is_legal_;
  std::vector<Pattern> units_;
  std::vector<UnitId> unit_of_;
  std::unordered_map<ValueId, std::vector<Vertex>> readers_;
  std::vector<std::uint32_t> version_, walked_;
  std::uint32_t walk_ = 0;
  std::vector<double> seconds_;
  std::priority_queue<Offer> offers_;
};

}  // namespace

std::vector<Pattern> merge(const Graph& graph, const CostModel& cost, std::vector<Pattern> plan,
                           const IsLegal& is_legal) {
  return Merger(graph, cost, is_legal).run(std::move(plan));
}

}  // namespace heddle
