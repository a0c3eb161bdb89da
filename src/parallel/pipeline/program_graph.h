// The function of a micro-batch as a graph that can be cut: which ops are the way forward, which
// the way back, and with which forward node each of the latter goes.
#pragma once

#include "heddle/parallel.h"
#include "parallel/pipeline/cut_graph.h"

namespace heddle::pipeline {

struct MicroProgram {
  const Program& program;
  const Function& function;
  // When an op of the function's own region is done, by OpId.
  enum class When : std::uint8_t {
    before,  // once: no micro-batch changes it
    each,
    after,  // once, when all are through
  };
  std::vector<When> when;
  std::vector<bool> data;           // by argument: every micro-batch has its own
  std::vector<double> seconds;      // by OpId: of one time
  std::vector<std::int64_t> bytes;  // by ValueId: on one device
  std::vector<bool> inside;         // by ValueId: it is a view, or kernels keep it to themselves
  std::vector<Carried> carried = {};
};

struct ProgramGraph {
  CutGraph graph;
  bool backward = false;            // whether there is a way back
  std::vector<int> nodes;           // by OpId: of ops done for each micro-batch or after; else -1
  std::vector<bool> on_way_back;    // by OpId
  std::vector<int> argument_nodes;  // by argument: that it is resident for; -1: none
  // Of residents that are arguments, or rows of them, which come first: the argument.
  std::vector<std::size_t> argument_of;
};

// So few nodes that they can be compared with each other.
ProgramGraph graph_of(const MicroProgram& micro, std::size_t most_nodes = 256);

// The cut by ops, from that of the nodes.
StageCut cut_of(const MicroProgram& micro, const ProgramGraph& graph, const PipelineShape& shape,
                const Stages& stages);

// What a step takes that is cut so, whoever made the cut; its positions are of this program's ops.
Expected<PipelineTimes> times_of(const MicroProgram& micro, const StageCut& cut, const Link& link);

// ---- its parts

// By OpId: whether an op that is done for each micro-batch is on the way back: gradients come of
// it, and nothing else that is wanted, but not all of them. None where there are no gradients.
std::vector<bool> way_back(const MicroProgram& micro);

}  // namespace heddle::pipeline
