#include "compile/predict.h"

#include <algorithm>

#include "heddle/placement.h"
#include "layout/move_cost.h"

namespace heddle {

namespace {

class Predictor {
 public:
  Predictor(const Executable& executable, const Cluster& cluster)
      : cluster_(cluster), of_step_(executable.steps().size(), 0) {}

  // Steps of a program, or of a loop, which meets the same bytes again with every turn.
  double seconds(const std::vector<StepWork>& steps, double footprint) {
    footprint = std::min(footprint, bytes_of(steps));
    double all = 0;
    for (const StepWork& step : steps) {
      const double once = of_step(step, footprint);
      of_step_[step.number] += once;
      all += once;
    }
    return all;
  }

  std::vector<double> of_steps() { return std::move(of_step_); }
  bool all_counted = true;

 private:
  static double bytes_of(const std::vector<StepWork>& steps) {
    double all = 0;
    for (const StepWork& step : steps) all += step.bytes + bytes_of(step.inside);
    return all;
  }

  double of_step(const StepWork& step, double footprint) {
    all_counted = all_counted && step.is_counted;
    if (!step.inside.empty()) return step.turns * seconds(step.inside, footprint);
    if (step.kind == CollectiveKind::send || step.kind == CollectiveKind::receive) return 0;
    const double here = step_seconds(step, cluster_.steps, footprint);
    return step.kind == CollectiveKind::none ? here : here + of_collective(step);
  }

  double of_collective(const StepWork& step) const {
    double longest = 0, all = 0;
    for (const double bytes : step.moved) {
      const double one = of_part(step, bytes);
      longest = std::max(longest, one);
      all += one;
    }
    return longest + cluster_.steps.beside * (all - longest);
  }

  // As it was timed among all devices; among a part of them by their link.
  double of_part(const StepWork& step, double bytes) const {
    const std::int64_t devices = cluster_.devices();
    const std::int64_t members = step.members > 0 ? step.members : devices;
    const bool among_all = members == devices || step.kind == CollectiveKind::permute;
    if (const double timed = timed_seconds(cluster_.moves, step.kind, bytes);
        among_all && timed > 0)
      return timed;
    return collective_seconds(step.kind, {members, cluster_.levels.back().link, Medium::network},
                              bytes);
  }

  const Cluster& cluster_;
  std::vector<double> of_step_;
};

}  // namespace

std::optional<Prediction> predict(const Executable& executable, const Cluster& cluster) {
  if (cluster.steps.workers == 0) return std::nullopt;
  Predictor predictor(executable, cluster);
  const auto held =
      static_cast<double>(executable.peak_bytes() + executable.placement().argument_bytes());
  const double seconds = predictor.seconds(executable.step_work(), held);
  if (!predictor.all_counted) return std::nullopt;
  const Placement& placement = executable.placement();
  const auto arrays = static_cast<double>(placement.arguments.size() + placement.results.size());
  return Prediction{cluster.steps.start + arrays * cluster.steps.array + seconds,
                    predictor.of_steps()};
}

double predict_pipeline(const Executable& executable, const CompileReport& decided,
                        const std::optional<Cluster>& cluster) {
  const std::vector<Executable> stages = executable.stages();
  const std::vector<double>& busy = decided.stage_seconds;
  if (!cluster || stages.size() > busy.size()) return decided.pipeline_seconds;
  double by_steps = 0, by_ops = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto made = predict(stages[s], *cluster);
    if (!made) return decided.pipeline_seconds;
    by_steps += made->seconds;
    // A rank has one of them, and stages are about as long as each other.
    if (stages.size() == busy.size()) by_ops += busy[s];
  }
  if (stages.size() < busy.size())
    for (const double each : busy) by_ops += each / static_cast<double>(busy.size());
  return by_ops > 0 ? decided.pipeline_seconds * by_steps / by_ops : decided.pipeline_seconds;
}

}  // namespace heddle
