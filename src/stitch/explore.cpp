#include "stitch/explore.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "cost/rates.h"
#include "heddle/log.h"
#include "heddle/op.h"
#include "stitch/alike.h"
#include "stitch/cost.h"
#include "stitch/latency.h"
#include "stitch/loop_plan.h"
#include "stitch/merge.h"
#include "stitch/sweeps.h"

namespace heddle {

namespace {

constexpr std::size_t kKeep = 3;    // patterns per vertex, and plans of the beam
constexpr std::size_t kAtOnce = 2;  // consumers whose patterns are combined at once

struct Candidate {
  Pattern pattern;
  double seconds = 0;  // as one kernel
  double gain = 0;     // against every vertex by itself
  bool legal = false;  // for sure
};

class Explorer {
 public:
  // Of patterns that are alike.
  struct Found {
    bool legal = false;
    double seconds = 0;        // by the full evaluator
    bool comes_again = false;  // stages read from memory what stages before them have read
  };

  Explorer(const Graph& graph, const Readers& readers, const StitchOptions& options)
      : graph_(graph),
        readers_(readers),
        options_(options),
        machine_(cost::of_two_workers(options.machine)),
        all_(options.machine.workers > 1 ? options.machine : machine_),
        many_(cost::of_many_workers(options.machine)),
        cost_(graph, machine_),
        alike_(graph) {}

  Exploration run() {
    best_.resize(graph_.size());
    for (Vertex v = static_cast<Vertex>(graph_.size()); v-- > 0;)
      if (graph_.stitchable[v]) best_[v] = candidates(v);
    Exploration done;
    // Where a plan has a group that no kernel can be written for, or that takes longer than its
    // vertices one by one, they are looked at more closely when they are joined again: into the
    // next best groups.
    constexpr int kMostTurns = 4;
    for (int turn = 0; turn < kMostTurns; ++turn) {
      const IsLegal is_legal = [this](const Pattern& p) { return has_kernel(p); };
      done.patterns = mend_cuts(graph_, cost_, merge(graph_, cost_, choose(), is_legal), is_legal);
      if (!find_suspects(done.patterns)) break;
    }
    std::erase_if(done.patterns, [this](const Pattern& p) { return !lowers(p); });
    std::erase_if(done.patterns, [this](const Pattern& p) { return !pays(p); });
    // On GPUs: the CPU's code generator takes minutes for kernels of a thousand ops.
    if (options_.machine.sweeps) {
      done.patterns = join_chains(graph_, cost_, std::move(done.patterns),
                                  [this](const Pattern& p) { return is_good_chain(p); });
      join_sweeps(done.patterns);
    }
    for (const Pattern& p : done.patterns) done.launches.push_back(launch(p));
    return done;
  }

 private:
  std::vector<Candidate> candidates(Vertex v);
  std::vector<Candidate> reduce(std::span<const Vertex> consumers, Vertex v);
  void add_union(const Candidate& a, const Candidate& b, std::vector<Candidate>& to) const;
  std::vector<Candidate> top(std::vector<Candidate> all);
  StitchGroup group_of(const Pattern& pattern) const;
  const Found& look(const Pattern& pattern);
  // By key of the pattern.
  using Seconds = std::unordered_map<std::uint64_t, std::optional<double>>;
  std::optional<double> seconds_on(const MachineFigures& machine, Seconds& known,
                                   const Pattern& pattern);
  bool pays_on(const MachineFigures& machine, Seconds& known, const Pattern& pattern);
  Exploration::Launch launch(const Pattern& pattern);
  bool has_kernel(const Pattern& pattern);
  bool is_good_chain(const Pattern& pattern);
  void join_sweeps(std::vector<Pattern>& patterns);
  bool sweeps_into(const Pattern& first, const Pattern& next);
  bool pays(const Pattern& pattern);
  bool lowers(const Pattern& pattern);
  bool is_known_to_fail(const Pattern& pattern);
  bool is_suspect(const Pattern& pattern) const;
  bool find_suspects(const std::vector<Pattern>& patterns);
  double full_cost(const std::vector<const Pattern*>& plan);
  bool only_feeds(Vertex v, const Pattern& pattern) const;
  bool needs_plan(const Pattern& pattern) const;
  std::vector<Pattern> choose();

  const Graph& graph_;
  const Readers& readers_;
  const StitchOptions& options_;
  const MachineFigures machine_;  // that groups are compared with
  const MachineFigures
      all_;  // that they must pay with: one worker is as two that take twice as long
  const MachineFigures many_;
  CostModel cost_;
  std::vector<std::vector<Candidate>> best_;
  Alike alike_;
  std::unordered_map<std::uint64_t, Found> found_;  // by key of the pattern
  Seconds with_all_, with_many_;
  std::unordered_map<std::uint64_t, Exploration::Launch> launches_;  // the same
  std::unordered_map<std::uint64_t, bool> lowers_;                   // the same
  int trials_ = 0;                                                   // of suspects
  int failed_chains_ = 0;
  std::vector<bool> suspect_;  // by vertex; empty: none is
};

// Ops that give their results element by element in one shape always share their loops.
bool Explorer::needs_plan(const Pattern& pattern) const {
  const Shape* shape = nullptr;
  for (Vertex v : pattern) {
    const Op& op = graph_.op(v);
    if (is_reducer(*graph_.program, op)) return true;
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

// What one kernel of the pattern would be.
const Explorer::Found& Explorer::look(const Pattern& pattern) {
  auto [it, fresh] = found_.try_emplace(alike_.key(pattern));
  if (!fresh) return it->second;
  if (const auto found = first_estimate(*graph_.program, group_of(pattern), machine_))
    it->second = {
        .legal = true, .seconds = found->seconds, .comes_again = found->bytes_by_stages > 0};
  return it->second;
}

// By the full evaluator; none where there is no such kernel.
std::optional<double> Explorer::seconds_on(const MachineFigures& machine, Seconds& known,
                                           const Pattern& pattern) {
  if (machine == machine_) {
    const Found& found = look(pattern);
    return found.legal ? std::optional(found.seconds) : std::nullopt;
  }
  auto [it, fresh] = known.try_emplace(alike_.key(pattern));
  if (!fresh) return it->second;
  if (const auto found = first_estimate(*graph_.program, group_of(pattern), machine))
    it->second = found->seconds;
  return it->second;
}

StitchGroup Explorer::group_of(const Pattern& pattern) const {
  std::vector<OpId> ops;
  for (Vertex v : pattern) ops.push_back(graph_.ops[v]);
  return make_group(*graph_.program, readers_, std::move(ops));
}

// How to launch it; found once for all patterns that are alike.
Exploration::Launch Explorer::launch(const Pattern& pattern) {
  auto [it, fresh] = launches_.try_emplace(alike_.key(pattern));
  if (!fresh) return it->second;
  const auto launch = choose_launch(*graph_.program, group_of(pattern), options_.machine);
  if (!launch) return it->second;
  it->second = {launch->choice, launch->best.seconds, launch->best.bytes_again};
  log(kLogPlans, "stitch: {} ops in {} blocks of about {} elements, {:.3g} ms expected{}",
      pattern.size(), launch->best.blocks, launch->choice.block_elements,
      launch->best.seconds * 1e3,
      launch->choice.across       ? ", reductions over all"
      : launch->choice.keep_heavy ? ""
                                  : ", expensive values not kept");
  return it->second;
}

// Its loops can be shared.
bool Explorer::has_kernel(const Pattern& pattern) {
  if (pattern.size() > kMostOps || (needs_plan(pattern) && !look(pattern).legal)) return false;
  // To write a kernel takes long beside all else that is asked here.
  constexpr int kMostTrials = 1000;
  return !is_suspect(pattern) || (pays(pattern) && trials_++ < kMostTrials && lowers(pattern));
}

// Of many ops: all that a smaller one is asked in the end.
bool Explorer::is_good_chain(const Pattern& pattern) {
  constexpr int kMostFailed = 16;
  if (failed_chains_ >= kMostFailed) return false;
  if ((!needs_plan(pattern) || look(pattern).legal) && pays(pattern) && lowers(pattern))
    return true;
  ++failed_chains_;
  return false;
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
  if (is_reducer(*graph_.program, graph_.op(v)) || graph_.escapes[v]) return false;
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
std::vector<Pattern> Explorer::choose() {
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
        if (c.pattern.size() > 1 && !is_known_to_fail(c.pattern) &&
            std::none_of(c.pattern.begin(), c.pattern.end(),
                         [&](Vertex w) { return has(plans[i].covered, w); }))
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
  // The full evaluator has the last word.
  std::vector<const Pattern*> best;
  double least = 0;
  for (const Plan& plan : plans) {
    std::vector<const Pattern*> chosen;
    for (const Link* l = plan.chosen.get(); l; l = l->before.get()) chosen.push_back(l->pattern);
    const double seconds = plans.size() > 1 ? full_cost(chosen) : 0;
    if (&plan != &plans[0] && seconds >= least) continue;
    least = seconds;
    best = std::move(chosen);
  }
  std::vector<Pattern> out;
  for (auto p = best.rbegin(); p != best.rend(); ++p) out.push_back(**p);
  return out;
}

// Whether one pass over rows for the stencils of both is faster than a pass for each.
bool Explorer::sweeps_into(const Pattern& first, const Pattern& next) {
  const StitchGroup made = group_of(first);
  if (made.outputs.size() != 1) return false;
  for (Vertex v : first) {
    if (graph_.program->result(graph_.op(v), 0) != made.outputs[0]) continue;
    if (graph_.escapes[v] || !std::ranges::all_of(graph_.consumers[v], [&](Vertex c) {
          return std::ranges::binary_search(first, c) || std::ranges::binary_search(next, c);
        }))
      return false;
  }
  const Pattern both = union_of(first, next);
  StitchGroup group = group_of(both);
  if (!find_sweeps(*graph_.program, group)) return false;
  group.choice = launch(both).choice;
  return group.choice.sweep_rows > 0 &&
         launch(both).seconds < launch(first).seconds + launch(next).seconds &&
         (!options_.can_lower || options_.can_lower(*graph_.program, group));
}

// Stencils that follow one another, as many as one pass can have.
void Explorer::join_sweeps(std::vector<Pattern>& patterns) {
  std::unordered_map<Vertex, std::size_t> pattern_of;
  const auto only_points_and_moves = [&](const Pattern& p) {
    return std::ranges::all_of(p, [&](Vertex v) {
      const Emission emission = graph_.op(v).def->emission;
      return emission == Emission::scalar || emission == Emission::compare ||
             emission == Emission::copy;
    });
  };
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (only_points_and_moves(patterns[i]))
      for (Vertex v : patterns[i]) pattern_of[v] = i;
  const auto join_one_before = [&](std::size_t i) {
    for (Vertex v : patterns[i])
      for (Vertex p : graph_.producers[v]) {
        const auto before = pattern_of.find(p);
        if (before == pattern_of.end() || before->second == i) continue;
        const std::size_t j = before->second;
        if (!sweeps_into(patterns[j], patterns[i])) continue;
        for (Vertex w : patterns[j]) pattern_of[w] = i;
        patterns[i] = union_of(patterns[i], patterns[j]);
        patterns[j].clear();
        return true;
      }
    return false;
  };
  for (std::size_t i = patterns.size(); i-- > 0;)
    while (!patterns[i].empty() && pattern_of.contains(patterns[i][0]) && join_one_before(i)) {
    }
  std::erase_if(patterns, [](const Pattern& p) { return p.empty(); });
}

// Whether a kernel can be written for it.
bool Explorer::lowers(const Pattern& pattern) {
  if (!options_.can_lower) return true;
  auto [it, fresh] = lowers_.try_emplace(alike_.key(pattern), true);
  if (fresh) it->second = options_.can_lower(*graph_.program, group_of(pattern));
  return it->second;
}

// Where a plan has failed before, patterns are taken at their word no more.
bool Explorer::is_known_to_fail(const Pattern& pattern) {
  if (!is_suspect(pattern)) return false;
  if ((needs_plan(pattern) && !look(pattern).legal) || !pays(pattern)) return true;
  const auto lowers = lowers_.find(alike_.key(pattern));
  return lowers != lowers_.end() && !lowers->second;
}

bool Explorer::is_suspect(const Pattern& pattern) const {
  return !suspect_.empty() && std::ranges::any_of(pattern, [&](Vertex v) { return suspect_[v]; });
}

// Marks the vertices of patterns that cannot be lowered or do not pay; false: there are none.
bool Explorer::find_suspects(const std::vector<Pattern>& patterns) {
  bool any = false;
  suspect_.resize(graph_.size(), false);
  for (const Pattern& p : patterns) {
    if (lowers(p) && pays(p)) continue;
    for (Vertex v : p) suspect_[v] = true;
    any = true;
  }
  return any;
}

// No longer than its vertices one by one.
bool Explorer::pays_on(const MachineFigures& machine, Seconds& known, const Pattern& pattern) {
  double apart = 0;
  for (Vertex v : pattern) apart += seconds_on(machine, known, {v}).value_or(0);
  const std::optional<double> together = seconds_on(machine, known, pattern);
  return together && *together <= apart;
}

// On this machine; and where it reads as often from memory as its parts would, on machines with
// many workers too: else plans for few would have groups that plans for many cannot have.
bool Explorer::pays(const Pattern& pattern) {
  if (!pays_on(all_, with_all_, pattern)) return false;
  return !look(pattern).comes_again || pays_on(many_, with_many_, pattern);
}

// Seconds of the patterns and of all other vertices by themselves.
double Explorer::full_cost(const std::vector<const Pattern*>& plan) {
  std::vector<bool> covered(graph_.size(), false);
  double seconds = 0;
  for (const Pattern* p : plan) {
    for (Vertex v : *p) covered[v] = true;
    seconds += look(*p).seconds;
  }
  for (Vertex v = 0; v < graph_.size(); ++v)
    if (!covered[v] && graph_.stitchable[v]) seconds += look({v}).seconds;
  return seconds;
}

}  // namespace

Exploration explore(const Graph& graph, const Readers& readers, const StitchOptions& options) {
  return Explorer(graph, readers, options).run();
}

}  // namespace heddle
