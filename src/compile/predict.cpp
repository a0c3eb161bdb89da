#include "compile/predict.h"

#include <algorithm>

#include "heddle/placement.h"
#include "layout/move_cost.h"

namespace heddle {

namespace {

class Predictor {
 public:
  Predictor(const Executable& executable, const Cluster& cluster)
      : cluster_(cluster), of_step_(executable.steps().size(), 0) {
    footprint_ =
        static_cast<double>(executable.peak_bytes() + executable.placement().argument_bytes());
  }

  double seconds(const std::vector<StepWork>& steps) {
    double all = 0;
    for (const StepWork& step : steps) {
      const double once = of_step(step);
      of_step_[step.number] += once;
      all += once;
    }
    return all;
  }

  std::vector<double> of_steps() { return std::move(of_step_); }
  bool all_counted = true;

 private:
  double of_step(const StepWork& step) {
    all_counted = all_counted && step.is_counted;
    if (!step.inside.empty()) return step.turns * seconds(step.inside);
    if (step.kind != CollectiveKind::none) return of_collective(step);
    return step_seconds(step, cluster_.steps, footprint_);
  }

  // As it was timed among all devices; among a part of them by their link.
  double of_collective(const StepWork& step) const {
    const std::int64_t devices = cluster_.devices();
    const std::int64_t members = step.members > 0 ? step.members : devices;
    const bool among_all = members == devices || step.kind == CollectiveKind::permute;
    if (const double timed = timed_seconds(cluster_.moves, step.kind, step.moved);
        among_all && timed > 0)
      return timed;
    return collective_seconds(step.kind, {members, cluster_.levels.back().link, Medium::network},
                              step.moved);
  }

  const Cluster& cluster_;
  double footprint_ = 0;
  std::vector<double> of_step_;
};

}  // namespace

std::optional<Prediction> predict(const Executable& executable, const Cluster& cluster) {
  if (cluster.steps.workers == 0 || executable.stages().size() > 1) return std::nullopt;
  Predictor predictor(executable, cluster);
  const double seconds = predictor.seconds(executable.step_work());
  if (!predictor.all_counted) return std::nullopt;
  return Prediction{cluster.steps.start + seconds, predictor.of_steps()};
}

}  // namespace heddle
