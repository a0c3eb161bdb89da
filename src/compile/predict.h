// How long a run takes on devices of a cluster, by the cost model and the steps as they were
// compiled: fused, shared out among workers, with every collective.
#pragma once

#include <optional>
#include <vector>

#include "heddle/cluster.h"
#include "heddle/compile_options.h"
#include "heddle/executable.h"

namespace heddle {

struct Prediction {
  double seconds = 0;                // of a run
  std::vector<double> step_seconds;  // of each step, done once
};

// Nothing where the cluster's figures do not say what steps take, or a step cannot be counted. Of a
// stage of a pipeline, what it does itself: sends and receives take no time.
std::optional<Prediction> predict(const Executable& executable, const Cluster& cluster);

// Seconds of a pipeline's step: when its stages work was decided by what ops take; they take
// longer, or less, by as much as the stages that were compiled here do.
double predict_pipeline(const Executable& executable, const CompileReport& decided,
                        const std::optional<Cluster>& cluster);

}  // namespace heddle
