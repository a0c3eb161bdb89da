// What the stages of a cut take, send and hold.
#pragma once

#include "parallel/pipeline/cut_graph.h"

namespace heddle::pipeline {

// Of one cut of a graph after the other.
class CutCosts {
 public:
  explicit CutCosts(const CutProblem& problem);
  const PipelineCosts& of(const Stages& stages);  // until the next one is asked for

 private:
  int stage_of(int node) const { return (*stages_)[static_cast<std::size_t>(node)]; }
  int back(int stage) const { return 2 * shape_.virtual_stages() - 1 - stage; }
  double seconds_for(std::int64_t bytes) const {
    return problem_.link.latency + static_cast<double>(bytes) / problem_.link.bandwidth;
  }
  void add_node(std::size_t n);
  void add_value(const CutGraph::Value& v);
  void list_values();
  void list_residents();
  struct Shared;
  void add_shared(const Shared& one);
  void add_transfers();
  void need_at(int position);
  void keep(int stage);
  void send(int from, int to, std::int64_t bytes);

  const CutProblem& problem_;
  const PipelineShape& shape_;
  std::size_t positions_;
  const Stages* stages_ = nullptr;
  PipelineCosts costs_;
  // Of the graph, with what is alike summed up.
  std::vector<CutGraph::Value> values_;
  struct Own {  // of a node alone
    std::int64_t bytes = 0;
    double update = 0;
  };
  std::vector<Own> own_;  // by node
  struct Shared {         // of several nodes
    std::vector<int> users;
    std::int64_t bytes = 0, shared_bytes = 0;
    double update = 0, travels = 0;  // seconds
  };
  std::vector<Shared> shared_;
  std::vector<std::int64_t> sent_;   // by pair of positions: bytes and 1; 0: nothing is
  std::vector<std::size_t> edges_;   // that have something
  std::vector<int> first_, needed_;  // of a value: by devices the first position; which devices
  std::vector<bool> kept_;           // of a value: by virtual stage
  std::vector<int> keepers_;
};

}  // namespace heddle::pipeline
