// What no step of a pipeline takes less than, wherever its program is cut and however devices share
// its work: a certificate that needs no search, or as little of one as there is.
#pragma once

#include <map>

#include "parallel/pipeline/cut_graph.h"

namespace heddle::pipeline {

// What every cut of a graph has to do, of one micro-batch.
struct LeastWork {
  // The longest way through nodes of which each takes something from the one before it, and gives
  // it something on the way back.
  double way = 0;
  double forward_share = 1;  // of the way: of each of its nodes at least so much
  std::int64_t forward_bytes = 0, backward_bytes = 0;  // that a cut of the way sends at least

  // What stays together, with what comes before it forward and after it on the way back.
  struct Node {
    double seconds = 0, head = 0, tail = 0;
    double update = 0;  // once
  };
  std::vector<Node> nodes;
};
LeastWork least_work(const CutGraph& graph, bool backward);

// Some stage works that often on a node, after what comes before it.
double least_of_nodes(const PipelineShape& shape, const LeastWork& work);

// `seconds` of a step, shared among all stages: who is on the way waits for those before it, and
// they wait for it. Of what is done once it counts the share `once`. Some stages may have nothing
// of the way: at most `most_on_way` virtual stages have.
double least_of_way(const PipelineShape& shape, const LeastWork& work, double seconds, double once,
                    const Link& between, int most_on_way);

// All of it. Values that would travel for too long are not cut: either a step takes as long as such
// a value travels for all micro-batches, or its maker and its users are one node.
class LeastStep {
 public:
  // `graph` is that of one device. Those of a stage share everything as well as can be.
  LeastStep(const CutGraph& graph, const PipelineShape& shape, double devices, Link between);

  // For a step of so many seconds of work, as least_of_way() has it.
  double of(double seconds, double once) const;
  // The same where not all virtual stages have something of the way.
  double with_fewer_on_way(double seconds, double once) const;

 private:
  double with_tied(std::size_t count, double seconds, double once) const;
  double travelling(std::size_t count) const;
  const LeastWork& work_with_tied(std::size_t count) const;

  CutGraph graph_;
  PipelineShape shape_;
  Link between_;
  std::vector<std::size_t> values_;                 // the largest first
  mutable std::map<std::size_t, LeastWork> works_;  // by how many of them are tied
};

}  // namespace heddle::pipeline
