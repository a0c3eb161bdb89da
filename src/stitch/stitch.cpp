#include "heddle/stitch.h"

#include "stitch/explain.h"
#include "stitch/explore.h"
#include "stitch/group.h"

namespace heddle {

Expected<StitchPlan> stitch(const Program& program, RegionId region, const StitchOptions& options) {
  const FoldedMoves moves = options.fuse ? fold_moves(program, region) : FoldedMoves{};
  const Graph graph = make_graph(program, region, moves);
  const Readers readers(program, region, moves);
  Exploration found;
  if (options.fuse) found = explore(graph, readers, options);
  HEDDLE_TRY(StitchPlan plan, arrange(graph, readers, std::move(found), moves));
  if (options.explain) explain(graph, readers, options.machine, plan);
  return plan;
}

}  // namespace heddle
