#include "stitch/explore.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "heddle/op.h"
#include "stitch/alike.h"
#include "stitch/cost.h"
#include "stitch/merge.h"
#include "stitch/schedule.h"

namespace heddle {

namespace {

constexpr std::size_t kKeep = 3;       // patterns per vertex, and plans of the beam
constexpr std::size_t kMostOps = 160;  // of one pattern
constexpr std::size_t kAtOnce = 2;     // consumers whose patterns are combined at once

struct Candidate {
  Pattern pattern;
  double seconds = 0;  // as one kernel
  double gain = 0;     // against every vertex by itself
  bool legal = false;  // for sure
};

class Explorer {
 public:
  Explorer(const Graph& graph, const Readers& readers, const MachineFigures& machine)
      : graph_(graph), readers_(readers), machine_(machine), cost_(graph, machine), alike_(graph) {}

  std::vector<Pattern> run() {
    best_.resize(graph_.size());
    for (Vertex v = static_cast<Vertex>(graph_.size()); v-- > 0;)
      if (graph_.stitchable[v]) best_[v] = candidates(v);
    return merge(graph_, cost_, choose(), [this](const Pattern& p) { return has_kernel(p); });
  }

 private:
  std::vector<Candidate> candidates(Vertex v);
  std::vector<Candidate> reduce(std::span<const Vertex> consumers, Vertex v);
  void add_union(const Candidate& a, const Candidate& b, std::vector<Candidate>& to) const;
  std::vector<Candidate> top(std::vector<Candidate> all);
  bool has_kernel(const Pattern& pattern);
  bool only_feeds(Vertex v, const Pattern& pattern) const;
  bool needs_schedule(const Pattern& pattern) const;
  std::vector<Pattern> choose() const;

  const Graph& graph_;
  const Readers& readers_;
  const MachineFigures& machine_;
  CostModel cost_;
  std::vector<std::vector<Candidate>> best_;
  Alike alike_;
  std::unordered_map<std::uint64_t, bool> legal_;  // by key of the pattern
};

// Ops that give their results element by element in one shape always share their loops.
bool Explorer::needs_schedule(const Pattern& pattern) const {
  const Shape* shape = nullptr;
  for (Vertex v : pattern) {
    const Op& op = graph_.op(v);
    if (is_reducer(op)) return true;
    const bool leaves =
        graph_.escapes[v] ||
        std::any_of(graph_.consumers[v].begin(), graph_.consumers[v].end(), [&](Vertex c) {
          return !std::binary_search(pattern.begin(), pattern.end(), c);
        });
    if (!leaves) continue;
    const Shape& own = graph_.program->type_of(graph_.program->result(op, 0)).shape;
    if (shape && *shape != own) return true;
    shape = &own;
  }
  return false;
}

// Its loops can be shared.
bool Explorer::has_kernel(const Pattern& pattern) {
  if (pattern.size() > kMostOps) return false;
  if (!needs_schedule(pattern)) return true;
  auto [it, fresh] = legal_.try_emplace(alike_.key(pattern), false);
  if (fresh) {
    std::vector<OpId> ops;
    for (Vertex v : pattern) ops.push_back(graph_.ops[v]);
    const StitchGroup group = make_group(*graph_.program, readers_, std::move(ops));
    it->second = schedule_group(*graph_.program, group, machine_).ok();
  }
  return it->second;
}

// The best legal ones, each once.
std::vector<Candidate> Explorer::top(std::vector<Candidate> all) {
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.gain != b.gain ? a.gain > b.gain : a.pattern < b.pattern;
  });
  std::vector<Candidate> kept;
  for (Candidate& c : all) {
    if (kept.size() == kKeep) break;
    if (c.gain < 0 || (!kept.empty() && kept.back().pattern == c.pattern)) continue;
    if (!c.legal && !(is_convex(graph_, c.pattern) && has_kernel(c.pattern))) continue;
    c.legal = true;
    kept.push_back(std::move(c));
  }
  return kept;
}

// A vertex that nobody outside of the pattern uses, and that reduces nothing.
bool Explorer::only_feeds(Vertex v, const Pattern& pattern) const {
  if (is_reducer(graph_.op(v)) || graph_.escapes[v]) return false;
  return std::all_of(graph_.consumers[v].begin(), graph_.consumers[v].end(), [&](Vertex c) {
    return std::binary_search(pattern.begin(), pattern.end(), c);
  });
}

// Two patterns as one, where that beats the two.
void Explorer::add_union(const Candidate& a, const Candidate& b, std::vector<Candidate>& to) const {
  Candidate both{union_of(a.pattern, b.pattern), 0, 0, false};
  if (both.pattern.size() > kMostOps) return;
  both.seconds = cost_.kernel(both.pattern);
  if (both.seconds > a.seconds + b.seconds) return;
  both.gain = cost_.apart(both.pattern) - both.seconds;
  // What b computes needs no other loops where a only feeds it.
  both.legal = b.legal && a.pattern.size() == 1 && only_feeds(a.pattern[0], b.pattern);
  to.push_back(std::move(both));
}

// PatternReduction: patterns of a few consumers are combined with each other and with v; the best
// of both halves once more.
std::vector<Candidate> Explorer::reduce(std::span<const Vertex> consumers, Vertex v) {
  std::vector<Candidate> out = {{{v}, cost_.kernel({v}), 0, true}};
  if (consumers.size() > kAtOnce) {
    const std::size_t half = consumers.size() / 2;
    const std::vector<Candidate> a = reduce(consumers.subspan(0, half), v);
    const std::vector<Candidate> b = reduce(consumers.subspan(half), v);
    for (const Candidate& x : a)
      for (const Candidate& y : b) add_union(x, y, out);
    out.insert(out.end(), a.begin(), a.end());
    out.insert(out.end(), b.begin(), b.end());
  } else {
    for (Vertex c : consumers) {
      const std::size_t before = out.size();
      for (const Candidate& candidate : best_[c])
        for (std::size_t i = 0; i < before; ++i) {
          const Candidate from = out[i];
          add_union(from, candidate, out);
        }
    }
  }
  std::vector<Candidate> kept = top(std::move(out));
  if (kept.empty()) kept.push_back({{v}, cost_.kernel({v}), 0, true});
  return kept;
}

std::vector<Candidate> Explorer::candidates(Vertex v) {
  std::vector<Vertex> consumers;
  for (Vertex c : graph_.consumers[v])
    if (graph_.stitchable[c]) consumers.push_back(c);
  return reduce(consumers, v);
}

// Producers first; a plan takes one of a vertex's patterns, or leaves it alone.
std::vector<Pattern> Explorer::choose() const {
  struct Link {
    const Pattern* pattern;
    std::shared_ptr<const Link> before;
  };
  struct Plan {
    Pattern covered;  // of the vertices that are still to come
    double gain = 0;
    std::shared_ptr<const Link> chosen;
  };
  std::vector<Plan> plans = {{{}, 0, nullptr}};
  auto has = [](const Pattern& set, Vertex v) {
    return std::binary_search(set.begin(), set.end(), v);
  };
  for (Vertex v = 0; v < graph_.size(); ++v) {
    struct Step {
      std::size_t plan;
      const Candidate* candidate;
      double gain;
    };
    std::vector<Step> steps;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      steps.push_back({i, nullptr, plans[i].gain});
      if (has(plans[i].covered, v)) continue;
      for (const Candidate& c : best_[v])
        if (c.pattern.size() > 1 && std::none_of(c.pattern.begin(), c.pattern.end(), [&](Vertex w) {
              return has(plans[i].covered, w);
            }))
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
        plan.covered = union_of(plan.covered, s.candidate->pattern);
        std::erase_if(plan.covered, [v](Vertex w) { return w <= v; });
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
