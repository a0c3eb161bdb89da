// The best cut of a graph into the stages of a pipeline.
#pragma once

#include <functional>
#include <optional>

#include "parallel/pipeline/cut_costs.h"

namespace heddle::pipeline {

struct CutOptions {
  // 2: a fixed amount of work. 3: until it is proved that no cut is better, or `stop` says so.
  int level = 2;
  std::function<bool()> stop = {};
};

struct Cut {
  Stages stages;  // by node of the graph that was given
  PipelineTimes times;
  double bound = 0;              // no cut takes less
  std::int64_t least_bytes = 0;  // that a stage needs at most, with this cut
};

// Every virtual stage has a node. A reason where there are too few nodes, or no cut fits the memory
// or none was found that does: then it says what the best of those that were seen needs.
Expected<Cut> find_cut(const CutProblem& problem, const CutOptions& options = {});

// No cut of the graph takes less.
double least_seconds(const CutProblem& problem);

// Where every stage takes something from the one before it, no cut takes less, of whatever graph:
// `work` seconds in a step, in which updates count `once` of what they take. Stages are `latency`
// apart.
double least_of_chain(const PipelineShape& shape, double work, double once, double latency);

// ---- its parts

// What a cut takes. First of all it has to fit.
struct Worth {
  std::int64_t excess = 0;  // bytes of the fullest stage beyond the limit
  double seconds = 0;
  bool operator<(const Worth& other) const {
    return excess != other.excess ? excess < other.excess : seconds < other.seconds;
  }
};

// Whether each position takes something from the one before it; the way back begins where the way
// forward ends.
bool is_chain(const PipelineShape& shape, const PipelineCosts& costs);

class Judge {
 public:
  explicit Judge(const CutProblem& problem);
  PipelineTimes times(const Stages& stages) const;
  Worth worth(const Stages& stages) const;

 private:
  const CutProblem& problem_;
  PipelineOrder order_;
  mutable CutCosts costs_;
};

// Cuts of the nodes in a row, a run of them for each stage: the largest stage is swept over, and
// for each the least traffic found. Nothing where there are fewer nodes than stages.
std::optional<Stages> cut_in_a_row(const CutProblem& problem, const std::vector<int>& row);

// Moves single nodes to the stage before or after as long as that helps.
void refine(const CutProblem& problem, const Judge& judge, Stages& stages, Worth& worth);

// Nodes one after the other, each on every stage that it may be on, unless no cut of that kind can
// be better than the best so far. Says whether all have been looked at.
bool branch(const CutProblem& problem, const Judge& judge, Stages& best, Worth& worth,
            const CutOptions& options);

// Groups of nodes, at most so many, of which none is in a circle; small ones are joined first.
Merged coarsened(const CutGraph& graph, std::size_t most);

}  // namespace heddle::pipeline
