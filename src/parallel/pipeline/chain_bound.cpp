// What stages that wait for each other take at least, whichever way work is cut among them.
#include <algorithm>
#include <cmath>

#include "base/plain_math.h"
#include "parallel/pipeline/cut.h"

namespace heddle::pipeline {

namespace {

using TaskKind = PipelineTask::Kind;

constexpr double kLeastExponent = -700;  // below it is nothing

// A game: one player deals the work out among positions and updates, the other one names a way
// through the tasks, one after the other, whose length no step is shorter than. Any mixture of ways
// gives a bound: its length where the work lies where it counts least.
class WaysThroughTasks {
 public:
  WaysThroughTasks(const PipelineShape& shape, const PipelineOrder& order, double once,
                   double latency)
      : shape_(shape),
        positions_(static_cast<std::size_t>(shape.positions())),
        latency_(shape.stages > 1 ? latency : 0) {
    weights_.assign(positions_, static_cast<double>(shape.micro_batches));
    weights_.resize(positions_ + static_cast<std::size_t>(shape.stages), once);
    number_.assign(positions_, std::vector<int>(static_cast<std::size_t>(shape.micro_batches)));
    list_tasks(order);
  }

  double bound(double work) {
    const std::size_t count = weights_.size();
    std::vector<double> sum(count, 0), share(count, 1.0 / static_cast<double>(count));
    double delays = 0, best = 0;
    const int rounds =
        std::clamp(static_cast<int>(kSteps / static_cast<double>(tasks_.size())), 40, 2000);
    for (int round = 1; round <= rounds; ++round) {
      delays += longest(work, share, sum);
      double least = 1e300;
      for (std::size_t j = 0; j < count; ++j) least = std::min(least, sum[j] / weights_[j]);
      best = std::max(best, (delays + work * least) / round);
      // Work goes where ways so far have counted it least, the more so the longer it goes on.
      const double sharpness =
          4 * std::sqrt(static_cast<double>(round)) / round * static_cast<double>(shape_.stages);
      double all = 0;
      for (std::size_t j = 0; j < count; ++j)
        all += share[j] =
            plain_exp(std::max(kLeastExponent, -sharpness * (sum[j] / weights_[j] - least)));
      for (double& s : share) s /= all;
    }
    return best;
  }

 private:
  struct Task {
    std::size_t part = 0;  // of the work: a position, or an update
    int before = -1;       // on the same stage
    int from = -1;         // what it takes from the position before it
    double delay = 0;      // that this takes
  };
  static constexpr double kSteps = 4e6;

  void list_tasks(const PipelineOrder& order) {
    int next = 0;
    for (std::size_t s = 0; s < order.size(); ++s)
      for (const PipelineTask& task : order[s]) {
        const int p = position_of(shape_, static_cast<int>(s), task);
        Task one;
        one.before = &task == order[s].data() ? -1 : next - 1;
        one.part =
            static_cast<std::size_t>(p) + (task.kind == TaskKind::update ? s : std::size_t{0});
        if (task.kind != TaskKind::update)
          number_[static_cast<std::size_t>(p)][static_cast<std::size_t>(task.micro_batch)] = next;
        tasks_.push_back(one);
        batches_.push_back(task.kind == TaskKind::update ? -1 : task.micro_batch);
        ++next;
      }
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      Task& task = tasks_[t];
      if (batches_[t] < 0 || task.part == 0) continue;
      const auto before = task.part - 1;
      task.from = number_[before][static_cast<std::size_t>(batches_[t])];
      const bool same =
          shape_.stage_of(static_cast<int>(before)) == shape_.stage_of(static_cast<int>(task.part));
      task.delay = same ? 0 : latency_;
    }
    sort_tasks();
  }

  // So that each comes after what it waits for.
  void sort_tasks() {
    std::vector<int> waits(tasks_.size(), 0);
    std::vector<std::vector<int>> after(tasks_.size());
    for (std::size_t t = 0; t < tasks_.size(); ++t)
      for (int other : {tasks_[t].before, tasks_[t].from})
        if (other >= 0) {
          after[static_cast<std::size_t>(other)].push_back(static_cast<int>(t));
          ++waits[t];
        }
    for (std::size_t t = 0; t < tasks_.size(); ++t)
      if (waits[t] == 0) sorted_.push_back(static_cast<int>(t));
    for (std::size_t i = 0; i < sorted_.size(); ++i)
      for (int next : after[static_cast<std::size_t>(sorted_[i])])
        if (--waits[static_cast<std::size_t>(next)] == 0) sorted_.push_back(next);
  }

  // Adds how often the longest way counts each part; gives what it is delayed on its way.
  double longest(double work, const std::vector<double>& share, std::vector<double>& sum) {
    ends_.assign(tasks_.size(), 0);
    by_.assign(tasks_.size(), -1);
    int last = -1;
    for (int t : sorted_) {
      const Task& task = tasks_[static_cast<std::size_t>(t)];
      double begin = task.before < 0 ? 0 : ends_[static_cast<std::size_t>(task.before)];
      int by = task.before;
      if (task.from >= 0)
        if (const double came = ends_[static_cast<std::size_t>(task.from)] + task.delay;
            came > begin) {
          begin = came;
          by = task.from;
        }
      by_[static_cast<std::size_t>(t)] = by;
      ends_[static_cast<std::size_t>(t)] = begin + work * share[task.part] / weights_[task.part];
      if (last < 0 || ends_[static_cast<std::size_t>(t)] > ends_[static_cast<std::size_t>(last)])
        last = t;
    }
    double delay = 0;
    for (int t = last; t >= 0; t = by_[static_cast<std::size_t>(t)]) {
      const Task& task = tasks_[static_cast<std::size_t>(t)];
      sum[task.part] += 1;
      if (by_[static_cast<std::size_t>(t)] == task.from && task.from != task.before)
        delay += task.delay;
    }
    return delay;
  }

  const PipelineShape& shape_;
  std::size_t positions_;
  double latency_;
  std::vector<double> weights_;           // by part: how often its work is done
  std::vector<std::vector<int>> number_;  // of tasks, by position and micro-batch
  std::vector<Task> tasks_;
  std::vector<int> batches_, sorted_, by_;
  std::vector<double> ends_;
};

}  // namespace

double least_of_chain(const PipelineShape& shape, double work, double once, double latency) {
  const auto order = pipeline_order(shape);
  if (!order || work <= 0) return 0;
  return WaysThroughTasks(shape, *order, once, latency).bound(work);
}

}  // namespace heddle::pipeline
