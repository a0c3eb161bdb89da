#include "stitch/merge.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "cost/fitted.h"
#include "stitch/units.h"

namespace heddle {

namespace {

class Merger {
 public:
  Merger(const Graph& graph, const CostModel& cost, std::vector<Pattern> plan,
         const IsLegal& is_legal, bool chains)
      : graph_(graph),
        cost_(cost),
        is_legal_(is_legal),
        least_ops_(chains ? kMostOps + 1 : 2),
        most_ops_(chains ? kMostJoined : kMostOps),
        units_(graph, std::move(plan)),
        version_(units_.size(), 0),
        seconds_(units_.size(), 0) {
    for (Vertex v = 0; v < graph.size(); ++v)
      for (ValueId value : graph.reads[v]) readers_[value].push_back(v);
    for (UnitId u = 0; u < units_.size(); ++u)
      if (mergeable(u)) seconds_[u] = cost_.kernel(units_[u]);
    if (!chains) return;
    for (UnitId u = 0; u < units_.size(); ++u) largest_.push_back(largest(units_[u]));
  }

  std::vector<Pattern> run() {
    for (UnitId u = 0; u < units_.size(); ++u) offer_neighbours(u);
    join_best();
    // Where a border has moved, others may want to be joined.
    constexpr int kMostTurns = 3;
    for (int turn = 0; !joins_chains() && turn < kMostTurns && move_borders(); ++turn) join_best();
    std::vector<Pattern> plan = std::move(units_).take();
    std::erase_if(plan, [](const Pattern& p) { return p.size() < 2; });
    return plan;
  }

 private:
  void join_best() {
    while (!offers_.empty()) {
      const Offer best = offers_.top();
      offers_.pop();
      if (version_[best.a] != best.version_a || version_[best.b] != best.version_b) continue;
      if (!units_.can_join(best.a, best.b)) continue;
      if (is_legal_(union_of(units_[best.a], units_[best.b])))
        take(best.a, best.b);
      else
        refused_.insert(pair_key(best.a, best.b));
    }
  }

  static std::uint64_t pair_key(UnitId a, UnitId b) {
    return std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
  }

  struct Offer {
    double gain;
    UnitId a, b;
    std::uint32_t version_a, version_b;
    bool operator<(const Offer& o) const {
      return gain != o.gain ? gain < o.gain : std::pair(a, b) > std::pair(o.a, o.b);
    }
  };

  bool mergeable(UnitId u) const {
    return !units_[u].empty() && graph_.stitchable[units_[u].front()];
  }

  // Units that a unit feeds, is fed by, or reads the same large value with.
  std::vector<UnitId> neighbours(UnitId u) const {
    constexpr std::size_t kFewReaders = 12;
    std::vector<UnitId> all;
    for (Vertex v : units_[u]) {
      for (Vertex w : graph_.producers[v]) all.push_back(units_.of(w));
      if (graph_.consumers[v].size() <= 4 * kFewReaders)
        for (Vertex w : graph_.consumers[v]) all.push_back(units_.of(w));
      if (joins_chains()) continue;  // what only reads the same is no chain
      for (ValueId value : graph_.reads[v]) {
        const std::vector<Vertex>& others = readers_.at(value);
        if (others.size() > kFewReaders || !graph_.program->type_of(value).is_tensor() ||
            graph_.program->type_of(value).bytes() < cost::kLargeShared)
          continue;
        for (Vertex w : others) all.push_back(units_.of(w));
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::erase(all, u);
    return all;
  }

  void offer_neighbours(UnitId u) {
    // Of two that have more ops together, one has more than half.
    if (!mergeable(u) || 2 * units_[u].size() < least_ops_) return;
    for (UnitId w : neighbours(u)) {
      if (!mergeable(w) || refused_.contains(pair_key(u, w))) continue;
      const std::size_t ops = units_[u].size() + units_[w].size();
      if (ops < least_ops_ || ops > most_ops_ || (joins_chains() && !is_chain(u, w, ops))) continue;
      const double gain = seconds_[u] + seconds_[w] - cost_.kernel(union_of(units_[u], units_[w]));
      const UnitId a = std::min(u, w), b = std::max(u, w);
      if (gain > 0) offers_.push({gain, a, b, version_[a], version_[b]});
    }
  }

  bool joins_chains() const { return most_ops_ > kMostOps; }

  std::int64_t elements(Vertex v) const {
    return graph_.program->type_of(graph_.program->result(graph_.op(v), 0)).elements();
  }
  std::int64_t largest(const Pattern& pattern) const {
    std::int64_t most = 0;
    for (Vertex v : pattern)
      if (graph_.stitchable[v]) most = std::max(most, elements(v));
    return most;
  }
  // Ops on the longest way through a pattern.
  std::size_t length(const Pattern& pattern) {
    lengths_.resize(graph_.size(), 0);
    std::size_t most = 0;
    for (Vertex v : pattern) {
      std::size_t before = 0;
      for (Vertex p : graph_.producers[v])
        if (std::ranges::binary_search(pattern, p)) before = std::max(before, lengths_[p]);
      most = std::max(most, lengths_[v] = before + 1);
    }
    return most;
  }
  // Whether one gives the other a value that is as large as all of theirs, and their ops follow one
  // another for long: not one number for many tensors, nor many tensors side by side.
  bool is_chain(UnitId a, UnitId b, std::size_t ops) {
    constexpr std::size_t kOpsOfLink = 4;
    const std::int64_t most = std::max(largest_[a], largest_[b]);
    const auto gives = [&](UnitId from, UnitId to) {
      return std::ranges::any_of(units_[from], [&](Vertex v) {
        return elements(v) == most && std::ranges::any_of(graph_.consumers[v], [&](Vertex c) {
                 return units_.of(c) == to;
               });
      });
    };
    return (gives(a, b) || gives(b, a)) &&
           kOpsOfLink * length(union_of(units_[a], units_[b])) >= ops;
  }

  // The one unit that all of these are in; kNone where there are several, or none.
  UnitId unit_of_all(const std::vector<Vertex>& vertices) const {
    if (vertices.empty()) return kNone;
    const UnitId first = units_.of(vertices[0]);
    return std::ranges::all_of(vertices, [&](Vertex w) { return units_.of(w) == first; }) ? first
                                                                                          : kNone;
  }

  bool move_where_better(Vertex v, UnitId to, std::vector<UnitId>& changed) {
    const UnitId from = units_.of(v);
    if (to == kNone || to == from || !mergeable(from) || !mergeable(to)) return false;
    if (units_[from].size() < 2 || units_[to].size() >= kMostOps) return false;
    Pattern less = units_[from], more = union_of(units_[to], {v});
    std::erase(less, v);
    const double now = seconds_[from] + seconds_[to];
    const double then = cost_.kernel(less) + cost_.kernel(more);
    if (then >= now || !is_legal_(less) || !is_legal_(more)) return false;
    units_.move(v, to);
    seconds_[from] = cost_.kernel(units_[from]);
    seconds_[to] = cost_.kernel(units_[to]);
    changed.insert(changed.end(), {from, to});
    return true;
  }

  // A vertex at the end of one kernel whose users are all in another may be better off there: what
  // stands between the two is then its operand. So may one at the begin that only reads what
  // another has made: then its result stands between the two.
  bool move_borders() {
    std::vector<UnitId> changed;
    for (Vertex v = static_cast<Vertex>(graph_.size()); v-- > 0;) {
      if (!graph_.escapes[v] && move_where_better(v, unit_of_all(graph_.consumers[v]), changed))
        continue;
      move_where_better(v, unit_of_all(graph_.producers[v]), changed);
    }
    std::ranges::sort(changed);
    changed.erase(std::ranges::unique(changed).begin(), changed.end());
    for (UnitId u : changed) ++version_[u];
    for (UnitId u : changed) offer_neighbours(u);
    return !changed.empty();
  }

  void take(UnitId a, UnitId b) {
    units_.join(a, b);
    seconds_[a] = cost_.kernel(units_[a]);
    if (joins_chains()) largest_[a] = std::max(largest_[a], largest_[b]);
    ++version_[a];
    ++version_[b];
    offer_neighbours(a);
  }

  const Graph& graph_;
  const CostModel& cost_;
  const IsLegal& is_legal_;
  const std::size_t least_ops_, most_ops_;  // of what is joined
  Units units_;
  std::unordered_map<ValueId, std::vector<Vertex>> readers_;
  std::vector<std::uint32_t> version_;
  std::vector<double> seconds_;
  std::vector<std::int64_t> largest_;  // elements of a value, by unit, where chains are joined
  std::vector<std::size_t> lengths_;   // of ways to a vertex of the pattern at hand
  std::priority_queue<Offer> offers_;
  // Pairs that no kernel could be made of; they are not asked about again when they have grown.
  std::unordered_set<std::uint64_t> refused_;
};

}  // namespace

std::vector<Pattern> merge(const Graph& graph, const CostModel& cost, std::vector<Pattern> plan,
                           const IsLegal& is_legal) {
  return Merger(graph, cost, std::move(plan), is_legal, false).run();
}

std::vector<Pattern> join_chains(const Graph& graph, const CostModel& cost,
                                 std::vector<Pattern> plan, const IsLegal& is_legal) {
  const bool was_cut =
      std::ranges::any_of(plan, [](const Pattern& p) { return 2 * p.size() > kMostOps; });
  return was_cut ? Merger(graph, cost, std::move(plan), is_legal, true).run() : plan;
}

}  // namespace heddle
