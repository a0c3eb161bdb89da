// With which node of the way forward each op of the way back goes.
#pragma once

#include "heddle/row_parts.h"
#include "parallel/pipeline/program_graph.h"

namespace heddle::pipeline {

// What once-only ops are made of, and who of the way forward uses what.
struct Uses {
  Uses(const MicroProgram& micro, const std::vector<bool>& back, const std::vector<int>& nodes);

  // By ValueId: the arguments that it is made of, where no micro-batch changes it; rows of one that
  // may lie on stages of their own count for themselves.
  std::vector<std::vector<ValueId>> sources;
  std::vector<RowParts> rows;  // by argument
  // By ValueId: nodes whose ops of the way forward use it, or what is made of it once.
  std::vector<std::vector<int>> forward;
};

struct Anchors {
  std::vector<int> nodes;                   // by OpId; -1: it is not on the way back
  std::vector<std::pair<int, int>> before;  // constraints that the graph does not have yet
};

// `nodes` has those of the way forward, by OpId, in `graph`, which has no circles. An op of the way
// back goes with the last node that gives or takes something that it needs too, of those that come
// before the nodes of what it needs of the way back; else with the last one before all of these.
Anchors anchors_of(const MicroProgram& micro, const std::vector<bool>& back,
                   const std::vector<int>& nodes, const CutGraph& graph, const Uses& uses);

}  // namespace heddle::pipeline
