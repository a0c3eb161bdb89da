#include "parallel/pipeline/cut.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace heddle::pipeline {

Judge::Judge(const CutProblem& problem)
    : problem_(problem), order_(pipeline_order(problem.shape).value()), costs_(problem) {}

PipelineTimes Judge::times(const Stages& stages) const {
  return time_pipeline(problem_.shape, order_, costs_.of(stages)).value();
}

Worth Judge::worth(const Stages& stages) const {
  const PipelineTimes all = times(stages);
  return {std::max<std::int64_t>(0, all.peak_bytes() - problem_.memory_limit), all.seconds};
}

bool is_chain(const PipelineShape& shape, const PipelineCosts& costs) {
  int tied = 0;
  for (const PipelineCosts::Transfer& t : costs.transfers)
    if (t.to == t.from + 1 && t.to != shape.virtual_stages()) ++tied;
  return tied == shape.positions() - (shape.backward ? 2 : 1);
}

double least_seconds(const CutProblem& problem) {
  double all = 0, most = 0, updates = 0;
  for (const CutGraph::Node& node : problem.graph.nodes) {
    const double seconds = node.forward + (problem.shape.backward ? node.backward : 0);
    all += seconds;
    most = std::max(most, seconds);
  }
  for (const CutGraph::Resident& r : problem.graph.residents)
    if (!r.users.empty()) updates += r.update;
  const double batches = problem.shape.micro_batches, stages = problem.shape.stages;
  // Some stage has as much as the average of all work, and one has the largest node.
  return std::max((batches * all + updates) / stages, batches * most);
}

namespace {

// Depth first, so that what belongs together comes together.
std::vector<int> by_depth(const CutGraph& graph) {
  std::vector<std::vector<int>> before(graph.nodes.size());
  std::vector<bool> has_after(graph.nodes.size(), false), seen(graph.nodes.size(), false);
  for (const auto& [a, b] : graph.constraints()) {
    before[static_cast<std::size_t>(b)].push_back(a);
    has_after[static_cast<std::size_t>(a)] = true;
  }
  std::vector<int> row;
  std::vector<std::pair<int, bool>> open;
  for (std::size_t n = graph.nodes.size(); n-- > 0;)
    if (!has_after[n]) open.emplace_back(static_cast<int>(n), false);
  while (!open.empty()) {
    const auto [node, done] = open.back();
    open.pop_back();
    if (done) row.push_back(node);
    if (done || seen[static_cast<std::size_t>(node)]) continue;
    seen[static_cast<std::size_t>(node)] = true;
    open.emplace_back(node, true);
    for (int b : before[static_cast<std::size_t>(node)])
      if (!seen[static_cast<std::size_t>(b)]) open.emplace_back(b, false);
  }
  return row;
}

class CutFinder {
 public:
  CutFinder(const CutProblem& problem, const CutOptions& options)
      : problem_(problem), options_(options), judge_(problem) {}

  Expected<Cut> run() {
    const auto stages = static_cast<std::size_t>(problem_.shape.virtual_stages());
    if (problem_.graph.nodes.size() < stages)
      return reason(
          "{} cannot be cut into {} stages: there {} only {} that may be apart; take at most as "
          "many stages",
          "the program", stages, problem_.graph.nodes.size() == 1 ? "is" : "are",
          counted(problem_.graph.nodes.size(), "part"));
    for (const std::vector<int>& row : {sorted(problem_.graph), by_depth(problem_.graph)})
      if (auto found = cut_in_a_row(problem_, row)) take(*std::move(found));
    try_coarse();
    const bool proved = branch(problem_, judge_, best_, worth_, options_);
    return result(proved);
  }

 private:
  void take(Stages stages) {
    Worth worth = judge_.worth(stages);
    refine(problem_, judge_, stages, worth);
    if (!best_.empty() && !(worth < worth_)) return;
    best_ = std::move(stages);
    worth_ = worth;
  }

  // So few nodes that nearly all of their cuts can be looked at.
  void try_coarse() {
    const std::size_t few =
        std::max<std::size_t>(16, 3 * static_cast<std::size_t>(problem_.shape.virtual_stages()));
    if (problem_.graph.nodes.size() <= few) return;
    const Merged coarse = coarsened(problem_.graph, few);
    if (coarse.graph.nodes.size() < static_cast<std::size_t>(problem_.shape.virtual_stages()))
      return;
    const CutProblem small{coarse.graph, problem_.shape, problem_.link, problem_.memory_limit};
    const Judge judge(small);
    auto start = cut_in_a_row(small, sorted(coarse.graph));
    if (!start) return;
    Worth worth = judge.worth(*start);
    refine(small, judge, *start, worth);
    branch(small, judge, *start, worth, {2, options_.stop});
    Stages stages;
    for (int node : coarse.node_of) stages.push_back((*start)[static_cast<std::size_t>(node)]);
    take(std::move(stages));
  }

  Expected<Cut> result(bool proved) {
    Cut cut{best_, judge_.times(best_), 0, 0};
    for (const PipelineTimes::Stage& stage : cut.times.stages)
      cut.least_bytes = std::max(cut.least_bytes, stage.peak_bytes);
    if (worth_.excess > 0)
      return reason(
          "{} of a device were not enough for a stage: the best cut that was seen takes {}",
          format_bytes(static_cast<double>(problem_.memory_limit)),
          format_bytes(static_cast<double>(cut.least_bytes)));
    cut.bound = proved ? worth_.seconds : std::min(worth_.seconds, least_seconds(problem_));
    return cut;
  }

  const CutProblem& problem_;
  const CutOptions& options_;
  Judge judge_;
  Stages best_;
  Worth worth_;
};

}  // namespace

Expected<Cut> find_cut(const CutProblem& problem, const CutOptions& options) {
  HEDDLE_CHECK(problem.link.bandwidth > 0, "a link without bandwidth");
  HEDDLE_TRY_VOID([&]() -> Verdict {
    const auto order = pipeline_order(problem.shape);
    return order ? yes() : Verdict(order.why());
  }());
  HEDDLE_CHECK(problem.graph.nodes.empty() || !sorted(problem.graph).empty(),
               "nodes in a circle are to be one");
  return CutFinder(problem, options).run();
}

}  // namespace heddle::pipeline
