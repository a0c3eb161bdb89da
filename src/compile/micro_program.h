// The function of a micro-batch as a cut into stages sees it: when ops are done, what they take and
// what values hold on one device.
#pragma once

#include <functional>

#include "heddle/micro_batches.h"
#include "parallel/pipeline/program_graph.h"

namespace heddle {

struct MicroCosts {
  std::vector<double> seconds;                      // by OpId: of one time
  std::function<const Split*(ValueId)> split = {};  // none: it lies whole
  std::vector<Carried> carried = {};
};

Expected<pipeline::MicroProgram> micro_program_of(const Program& program, const Function& function,
                                                  const MicroBatches& micro, MicroCosts costs);

// What ops take as it was decided: by the search where there was one, else op by op.
std::vector<double> decided_seconds(const Program& program, const Function& function,
                                    const FunctionPlan& plan, const std::vector<MicroPhase>& phases,
                                    const PipelineShape& shape);

}  // namespace heddle
