#include "stitch/explore.h"

#include <algorithm>
#include <map>
#include <memory>

#include "heddle/op.h"
#include "stitch/cost.h"
#include "stitch/merge.h"
#include "stitch/schedule.h"

namespace heddle {

namespace {

constexpr std::size_t kKeep = 3;        // patterns per vertex, and plans of the beam
constexpr std::size_t kMostOps = 1500;  // of one pattern
constexpr std::size_t kAtOnce = 2;      // consumers whose patterns are combined at once

struct Candidate {
  Pattern pattern;
  double gain = 0;
};

class Explorer {
 public:
  Explorer(const Graph& graph, const Readers& readers, const MachineFigures& machine)
      : graph_(graph), readers_(readers), machine_(machine), cost_(graph, readers, machine) {}

  std::vector<Pattern> run() {
    best_.resize(graph_.size());
    for (Vertex v = static_cast<Vertex>(graph_.size()); v-- > 0;)
      if (graph_.stitchable[v]) best_[v] = candidates(v);
    return merge(graph_, cost_, choose(), [this](const Pattern& p) { return is_legal(p); });
  }

 private:
  std::vector<Candidate> candidates(Vertex v);
  std::vector<Pattern> reduce(std::span<const Vertex> consumers, Vertex v);
  std::vector<Candidate> top(std::vector<Pattern> patterns);
  bool is_legal(const Pattern& pattern);
  std::vector<Pattern> choose() const;

  const Graph& graph_;
  const Readers& readers_;
  const MachineFigures& machine_;
  CostModel cost_;
  std::vector<std::vector<Candidate>> best_;
  std::map<Pattern, bool> legal_;
};

// A kernel exists for it. Only reductions can stand in the way, or a path that comes back.
bool Explorer::is_legal(const Pattern& pattern) {
  if (pattern.size() > kMostOps) return false;
  if (!is_convex(graph_, pattern)) return false;
  bool reduces = false;
  for (Vertex v : pattern) {
    const Emission e = graph_.op(v).def->emission;
    reduces |= e == Emission::reduce || e == Emission::contract;
  }
  std::vector<OpId> ops;
  for (Vertex v : pattern) ops.push_back(graph_.ops[v]);
  if (!reduces) return true;
  auto [it, fresh] = legal_.try_emplace(pattern, false);
  if (fresh)
    it->second =
        schedule_group(*graph_.program, make_group(*graph_.program, readers_, ops), machine_).ok();
  return it->second;
}

// The best legal ones, each once.
std::vector<Candidate> Explorer::top(std::vector<Pattern> patterns) {
  std::sort(patterns.begin(), patterns.end());
  patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
  std::vector<Candidate> all;
  for (Pattern& p : patterns) {
    const double gain = p.size() > 1 ? cost_.gain(p) : 0;
    all.push_back({std::move(p), gain});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
  std::vector<Candidate> kept;
  for (Candidate& c : all)
    if (kept.size() < kKeep && c.gain >= 0 && is_legal(c.pattern)) kept.push_back(std::move(c));
  return kept;
}

// PatternReduction: patterns of a few consumers are combined with each other and with v; the best
// of both halves once more.
std::vector<Pattern> Explorer::reduce(std::span<const Vertex> consumers, Vertex v) {
  std::vector<Pattern> out = {{v}};
  if (consumers.size() > kAtOnce) {
    const std::size_t half = consumers.size() / 2;
    const std::vector<Pattern> a = reduce(consumers.subspan(0, half), v);
    const std::vector<Pattern> b = reduce(consumers.subspan(half), v);
    for (const Pattern& x : a)
      for (const Pattern& y : b) out.push_back(union_of(x, y));
  } else {
    for (Vertex c : consumers) {
      const std::size_t before = out.size();
      for (const Candidate& candidate : best_[c])
        for (std::size_t i = 0; i < before; ++i) out.push_back(union_of(out[i], candidate.pattern));
    }
  }
  std::vector<Pattern> kept;
  for (Candidate& c : top(std::move(out))) kept.push_back(std::move(c.pattern));
  if (kept.empty()) kept.push_back({v});
  return kept;
}

std::vector<Candidate> Explorer::candidates(Vertex v) {
  std::vector<Vertex> consumers;
  for (Vertex c : graph_.consumers[v])
    if (graph_.stitchable[c]) consumers.push_back(c);
  std::vector<Pattern> all = reduce(consumers, v);
  all.push_back({v});
  return top(std::move(all));
}

// Producers first; a plan takes one of a vertex's patterns, or leaves it alone.
std::vector<Pattern> Explorer::choose() const {
  struct Link {
    const Pattern* pattern;
    std::shared_ptr<const Link> before;
  };
  struct Plan {
    std::vector<bool> covered;
    double gain = 0;
    std::shared_ptr<const Link> chosen;
  };
  std::vector<Plan> plans = {{std::vector<bool>(graph_.size(), false), 0, nullptr}};
  for (Vertex v = 0; v < graph_.size(); ++v) {
    struct Step {
      std::size_t plan;
      const Candidate* candidate;
      double gain;
    };
    std::vector<Step> steps;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      steps.push_back({i, nullptr, plans[i].gain});
      if (plans[i].covered[v]) continue;
      for (const Candidate& c : best_[v])
        if (c.pattern.size() > 1 && std::none_of(c.pattern.begin(), c.pattern.end(),
                                                 [&](Vertex w) { return plans[i].covered[w]; }))
          steps.push_back({i, &c, plans[i].gain + c.gain});
    }
    if (steps.size() == plans.size()) continue;
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.gain > b.gain; });
    std::vector<Plan> next;
    for (const Step& s : steps) {
      if (next.size() == kKeep) break;
      Plan plan = plans[s.plan];
      if (s.candidate) {
        for (Vertex w : s.candidate->pattern) plan.covered[w] = true;
        plan.gain = s.gain;
        plan.chosen = std::make_shared<Link>(Link{&s.candidate->pattern, plan.chosen});
      }
      next.push_back(std::move(plan));
    }
    plans = std::move(next);
  }
  std::vector<Pattern> out;
  for (const Link* l = plans[0].chosen.get(); l; l = l->before.get()) out.push_back(*l->pattern);
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

std::vector<Pattern> explore(const Graph& graph, const Readers& readers,
                             const MachineFigures& machine) {
  return Explorer(graph, readers, machine).run();
}

}  // namespace heddle
