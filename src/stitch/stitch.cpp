#include "heddle/stitch.h"

#include "stitch/explore.h"
#include "stitch/group.h"

namespace heddle {

Expected<StitchPlan> stitch(const Program& program, RegionId region, const StitchOptions& options) {
  const FoldedMoves moves = options.fuse ? fold_moves(program, region) : FoldedMoves{};
  const Graph graph = make_graph(program, region, moves);
  const Readers readers(program, region, moves);
  std::vector<Pattern> patterns;
  if (options.fuse) patterns = explore(graph, readers, options.machine);
  return arrange(graph, readers, patterns, moves);
}

}  // namespace heddle
