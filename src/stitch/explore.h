// Fusion exploration after FusionStitching: for every vertex the best few patterns that begin with
// it, made of those of its consumers; a beam over the vertices that picks patterns which do not
// overlap; then patterns that share what they read.
#pragma once

#include "heddle/machine.h"
#include "stitch/graph.h"
#include "stitch/group.h"

namespace heddle {

// Disjoint patterns of at least two vertices, each a legal kernel, no cycle between them. What is
// in none of them stands alone.
struct Exploration {
  std::vector<Pattern> patterns = {};
  struct Launch {
    LaunchChoice choice = {};
    double seconds = 0;
    double bytes_again = 0;  // of StitchGroup
  };
  std::vector<Launch> launches = {};  // one each
};
Exploration explore(const Graph& graph, const Readers& readers, const StitchOptions& options);

// The plan of these patterns: an order in which they can run, and launches of several kernels.
Expected<StitchPlan> arrange(const Graph& graph, const Readers& readers, Exploration found,
                             const FoldedMoves& moves = {});

}  // namespace heddle
