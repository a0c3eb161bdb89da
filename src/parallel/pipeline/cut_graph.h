// What a cut into stages is made of: nodes, each with its way forward and its way back, and what
// they give each other. Nothing here knows of programs.
#pragma once

#include <utility>

#include "heddle/mesh.h"
#include "heddle/pipeline.h"

namespace heddle::pipeline {

struct CutGraph {
  // Ops that stay together, with those of the way back that belong to them. Of one micro-batch, on
  // one device.
  struct Node {
    double forward = 0, backward = 0;                    // seconds
    std::int64_t while_forward = 0, while_backward = 0;  // bytes, beside what is kept
  };
  // Something of one micro-batch. Users on other stages are sent it, each stage once.
  struct Value {
    int maker = 0;
    bool of_backward = false;  // it is made on the way back
    bool kept = false;         // for the way back, on its maker's stage too
    std::int64_t bytes = 0;    // on one device
    std::vector<int> forward_users = {}, backward_users = {};  // other nodes and the maker itself
  };
  // Something that is there all the time, on the first stage of those that use it: a parameter with
  // its gradient and what its optimiser keeps.
  struct Resident {
    std::int64_t bytes = 0;
    std::int64_t shared_bytes = 0;  // of that on every further stage, which sends and gets as much
    double update = 0;              // seconds, once
    std::vector<int> users = {};
  };
  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<Resident> residents;
  std::vector<std::pair<int, int>> before;  // no later stage than, beside what values say

  // All pairs of nodes of which the first may not be on a later stage than the second, each once.
  std::vector<std::pair<int, int>> constraints() const;
};

// Nodes in an order in which constraints go forward; among several the lowest number first. Empty
// where there is a circle.
std::vector<int> sorted(const CutGraph& graph);

// Nodes in a circle become one.
struct Merged {
  CutGraph graph;
  std::vector<int> node_of;  // by node of the graph before
};
Merged merged(const CutGraph& graph, const std::vector<int>& group_of);  // groups from 0, all used
Merged without_circles(const CutGraph& graph);

struct CutProblem {
  const CutGraph& graph;
  PipelineShape shape;
  Link link;  // between stages
  std::int64_t memory_limit = INT64_MAX;
};

// By node: its virtual stage.
using Stages = std::vector<int>;

PipelineCosts costs_of(const CutProblem& problem, const Stages& stages);

}  // namespace heddle::pipeline
