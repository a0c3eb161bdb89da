#include "heddle/stitch.h"

#include <algorithm>

#include "stitch/explain.h"
#include "stitch/explore.h"
#include "stitch/group.h"
#include "stitch/latency.h"

namespace heddle {

namespace {

// Many small results of one launch push each other out of the cache like one large one.
void choose_streams(const Program& program, const MachineFigures& machine, StitchPlan& plan) {
  for (StitchUnit& unit : plan.units) {
    std::int64_t bytes = 0;
    for (const StitchGroup& group : unit.kernels)
      for (ValueId v : group.outputs) bytes += program.type_of(v).bytes();
    if (unit.kernels.size() < 2 || bytes <= machine.far_cache) continue;
    for (StitchGroup& group : unit.kernels) group.choice.streams = true;
  }
}

// What ops that stand alone should take; and kernels of one launch begin together.
void estimate_others(const Program& program, const MachineFigures& machine, StitchPlan& plan) {
  for (StitchUnit& unit : plan.units)
    for (StitchGroup& group : unit.kernels) {
      if (group.seconds == 0)
        if (const auto found = first_estimate(program, group, machine)) {
          group.seconds = found->seconds;
          group.bytes_again = found->bytes_again;
        }
      if (&group != unit.kernels.data())
        group.seconds = std::max(0.0, group.seconds - machine.launch_seconds);
    }
}

}  // namespace

Expected<StitchPlan> stitch(const Program& program, RegionId region, const StitchOptions& options) {
  const bool folds = options.fuse && options.calls != nullptr;
  const FoldedMoves moves = folds ? fold_moves(program, region, *options.calls) : FoldedMoves{};
  const Graph graph = make_graph(program, region, options.calls, moves);
  const Readers readers(program, region, moves);
  Exploration found;
  if (options.fuse) found = explore(graph, readers, options);
  HEDDLE_TRY(StitchPlan plan, arrange(graph, readers, std::move(found), moves));
  choose_streams(program, options.machine, plan);
  estimate_others(program, options.machine, plan);
  if (options.explain) explain(graph, readers, options.machine, plan);
  return plan;
}

}  // namespace heddle
