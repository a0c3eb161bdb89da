// What kernels cost, in seconds by the figures of the machine. Two levels, as FusionStitching has
// them: a quick difference for every pattern that is looked at, and a full estimate with the
// schedule for the plans that are left.
#pragma once

#include "heddle/machine.h"
#include "stitch/graph.h"
#include "stitch/group.h"

namespace heddle {

class CostModel {
 public:
  CostModel(const Graph& graph, const Readers& readers, const MachineFigures& machine);

  // One kernel of these vertices: bytes once in, once out, and the work at every point.
  double kernel(const Pattern& pattern) const;
  // Every vertex by itself.
  double apart(const Pattern& pattern) const;
  // What stitching saves: memory, launches, less what is computed again.
  double gain(const Pattern& pattern) const { return apart(pattern) - kernel(pattern); }

  // Bytes that the kernel of a pattern reads and writes.
  std::int64_t traffic(const Pattern& pattern) const;

 private:
  double seconds(std::int64_t bytes, double work) const;
  std::int64_t bytes(ValueId v) const;

  const Graph& graph_;
  const Readers& readers_;
  const MachineFigures& machine_;
  std::vector<double> windows_, alone_;  // by vertex
};

}  // namespace heddle
