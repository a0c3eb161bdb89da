#include "stitch/explain.h"

#include <algorithm>
#include <map>

#include "cost/rates.h"
#include "heddle/op.h"
#include "stitch/cost.h"
#include "stitch/latency.h"
#include "stitch/units.h"

namespace heddle {

namespace {

constexpr std::size_t kMostLines = 4;  // about neighbours of one kernel
constexpr std::size_t kMostNames = 4;  // in one line

std::string time_text(double seconds) {
  const bool small = seconds < 1e-3;
  const double n = seconds * (small ? 1e6 : 1e3);
  return fmt::format("{:.{}f} {}", n, n < 10 ? 1 : 0, small ? "us" : "ms");
}

std::string joined(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  const std::size_t more = names.size() > kMostNames ? names.size() - kMostNames : 0;
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

class Explainer {
 public:
  Explainer(const Graph& graph, const Readers& readers, const MachineFigures& machine,
            const StitchPlan& plan)
      : graph_(graph),
        readers_(readers),
        machine_(machine),
        compared_(cost::of_two_workers(machine)),
        cost_(graph, compared_),
        units_(graph, patterns_of(graph, plan)),
        vertex_(vertices(graph)) {}

  std::vector<std::string> notes(const StitchGroup& group) {
    std::vector<std::string> lines;
    add_launch(group, lines);
    add_neighbours(units_.of(vertex_.at(group.ops[0])), lines);
    return lines;
  }

 private:
  static std::unordered_map<OpId, Vertex> vertices(const Graph& graph) {
    std::unordered_map<OpId, Vertex> vertex;
    for (Vertex v = 0; v < graph.size(); ++v) vertex[graph.ops[v]] = v;
    return vertex;
  }
  static std::vector<Pattern> patterns_of(const Graph& graph, const StitchPlan& plan) {
    const std::unordered_map<OpId, Vertex> vertex = vertices(graph);
    std::vector<Pattern> patterns;
    for (const StitchUnit& unit : plan.units)
      for (const StitchGroup& group : unit.kernels) {
        Pattern p;
        for (OpId id : group.ops) p.push_back(vertex.at(id));
        std::ranges::sort(p);
        patterns.push_back(std::move(p));
      }
    return patterns;
  }

  std::string name(Vertex v) const { return std::string(graph_.op(v).def->short_name()); }
  // The last op that computes something stands for a kernel.
  std::string name_of_unit(UnitId u) const {
    for (std::size_t i = units_[u].size(); i-- > 0;)
      if (graph_.op(units_[u][i]).def->cls != OpClass::move) return name(units_[u][i]);
    return name(units_[u].back());
  }

  // What it should take, and what other ways would take.
  void add_launch(const StitchGroup& group, std::vector<std::string>& lines) const {
    const auto launch = choose_launch(*graph_.program, group, machine_);
    if (!launch) return;
    const KernelEstimate& best = launch->best;
    lines.push_back(fmt::format(
        "expected {}: memory {}, work {}; {} {}{}", time_text(best.seconds), time_text(best.memory),
        time_text(best.work), best.blocks, best.blocks == 1 ? "block" : "blocks",
        best.block_bytes > 0
            ? fmt::format(" that keep {:.1f} kB each in {}",
                          static_cast<double>(best.block_bytes) / 1e3,
                          best.block_bytes <= machine_.near_cache ? "cache" : "memory")
            : ""));
    for (const ScheduledGroup::Other& other : launch->others)
      if (other.seconds > cost::kClearly * best.seconds)
        lines.push_back(fmt::format(
            "rejected: {}   +{}",
            other.choice.sweep_rows > 0 ? "one pass over rows for all stencils"
            : other.choice.across
                ? "reductions over all blocks, and what follows in a phase of its own"
            : other.choice.keep_heavy
                ? fmt::format("blocks of about {} elements", other.choice.block_elements)
                : "computing expensive values again instead of keeping them",
            time_text(other.seconds - best.seconds)));
  }

  // One line per reason, with all neighbours that it holds for.
  void add_neighbours(UnitId u, std::vector<std::string>& lines) {
    std::map<std::string, std::vector<std::string>> why;  // by reason: names
    for (UnitId n : neighbours(u)) why[why_apart(u, n)].push_back(name_of_unit(n));
    if (why.empty()) {
      lines.emplace_back("would not fuse further: nothing left");
      return;
    }
    std::size_t count = 0;
    for (auto& [reason, names] : why) {
      if (count++ == kMostLines) {
        lines.push_back(fmt::format("and {} more reasons", why.size() - kMostLines));
        return;
      }
      lines.push_back(fmt::format("not one with {}: {}", joined(std::move(names)), reason));
    }
  }

  std::vector<UnitId> neighbours(UnitId u) const {
    std::vector<UnitId> all;
    for (Vertex v : units_[u])
      for (const auto* list : {&graph_.producers[v], &graph_.consumers[v]})
        for (Vertex w : *list)
          if (units_.of(w) != u) all.push_back(units_.of(w));
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
  }

  std::string why_apart(UnitId u, UnitId n) {
    if (!graph_.stitchable[units_[n].front()]) return not_a_kernel(graph_.op(units_[n].front()));
    if (!units_.can_join(u, n)) return "what lies between the two has to run after one of them";
    const Pattern both = union_of(units_[u], units_[n]);
    std::vector<OpId> ops;
    for (Vertex v : both) ops.push_back(graph_.ops[v]);
    const auto launch =
        choose_launch(*graph_.program, make_group(*graph_.program, readers_, ops), machine_);
    if (!launch) return "cannot: " + launch.reason();
    const double more = cost_.kernel(both) - cost_.kernel(units_[u]) - cost_.kernel(units_[n]);
    if (more > 0) return dearer(both, more);
    if (both.size() > kMostOps) return fmt::format("one kernel has at most {} ops", kMostOps);
    return fmt::format("next to nothing to gain: {}", time_text(-more));
  }

  static std::string not_a_kernel(const Op& op) {
    if (op.def->cls == OpClass::contract) return "a library call";
    if (op.region_count > 0 && op.def->cls == OpClass::control) return "it runs steps of its own";
    return "a library call, or by reference";
  }

  std::string dearer(const Pattern& both, double more) const {
    const CostModel::Repeated most = cost_.most_repeated(both);
    if (most.times < 1.5) return fmt::format("it would take {} more", time_text(more));
    return fmt::format("it would compute {} {:.0f} times at every place: +{}", name(most.vertex),
                       most.times, time_text(more));
  }

  const Graph& graph_;
  const Readers& readers_;
  const MachineFigures& machine_;
  const MachineFigures compared_;  // that groups are compared with
  CostModel cost_;
  Units units_;
  std::unordered_map<OpId, Vertex> vertex_;
};

}  // namespace

void explain(const Graph& graph, const Readers& readers, const MachineFigures& machine,
             StitchPlan& plan) {
  Explainer explainer(graph, readers, machine, plan);
  for (StitchUnit& unit : plan.units)
    for (StitchGroup& group : unit.kernels) group.notes = explainer.notes(group);
}

}  // namespace heddle
