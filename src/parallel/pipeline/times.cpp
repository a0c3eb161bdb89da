// How long a step of a pipeline takes, and what its stages hold meanwhile.
#include <algorithm>

#include "heddle/pipeline.h"

namespace heddle {

namespace {

using TaskKind = PipelineTask::Kind;

class Clockwork {
 public:
  Clockwork(const PipelineShape& shape, const PipelineOrder& order, const PipelineCosts& costs)
      : shape_(shape), order_(order), costs_(costs) {
    const auto positions = static_cast<std::size_t>(shape.positions());
    incoming_.resize(positions);
    outgoing_.resize(positions);
    for (std::size_t t = 0; t < costs.transfers.size(); ++t) {
      incoming_[static_cast<std::size_t>(costs.transfers[t].to)].push_back(t);
      outgoing_[static_cast<std::size_t>(costs.transfers[t].from)].push_back(t);
    }
    batches_ = static_cast<std::size_t>(shape.micro_batches);
    arrived_.assign(costs.transfers.size() * batches_, -1);
    ended_.assign(positions * batches_, -1);
    links_.assign(order.size() * order.size(), 0);
    next_.assign(order.size(), 0);
    times_.stages.resize(order.size());
    for (std::size_t s = 0; s < order.size(); ++s) times_.stages[s].spans.reserve(order[s].size());
  }

  Expected<PipelineTimes> run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t s = 0; s < order_.size(); ++s)
        while (next_[s] < order_[s].size() && can_begin(s)) {
          work(s);
          moved = true;
        }
    }
    for (std::size_t s = 0; s < order_.size(); ++s)
      if (next_[s] < order_[s].size()) {
        const PipelineTask& task = order_[s][next_[s]];
        return reason("the pipeline would stop for ever: stage {} waits before {} {}", s,
                      name(task.kind), task.micro_batch);
      }
    sum_up();
    return std::move(times_);
  }

 private:
  // Backward takes what its forward left on the same stage.
  int own_forward(const PipelineTask& task, int position) const {
    return task.kind == TaskKind::backward ? shape_.virtual_stage_of(position) : -1;
  }

  bool can_begin(std::size_t s) const {
    const PipelineTask& task = order_[s][next_[s]];
    if (task.kind == TaskKind::update) return true;
    const int position = position_of(shape_, static_cast<int>(s), task);
    const auto batch = static_cast<std::size_t>(task.micro_batch);
    if (const int own = own_forward(task, position);
        own >= 0 && ended_[static_cast<std::size_t>(own) * batches_ + batch] < 0)
      return false;
    return std::ranges::all_of(incoming_[static_cast<std::size_t>(position)],
                               [&](std::size_t t) { return arrived_[t * batches_ + batch] >= 0; });
  }

  void work(std::size_t s) {
    const PipelineTask task = order_[s][next_[s]++];
    PipelineTimes::Stage& stage = times_.stages[s];
    const auto p = static_cast<std::size_t>(position_of(shape_, static_cast<int>(s), task));
    const auto batch = static_cast<std::size_t>(task.micro_batch);
    double begin = stage.spans.empty() ? 0 : stage.spans.back().end;
    const bool update = task.kind == TaskKind::update;
    if (!update)
      for (std::size_t t : incoming_[p]) begin = std::max(begin, arrived_[t * batches_ + batch]);
    const double seconds = update ? costs_.once[s] : costs_.seconds[p];
    const double end = begin + seconds;
    stage.busy += seconds;
    stage.spans.push_back({task, begin, end, costs_.resident[s]});
    if (update) return;
    ended_[p * batches_ + batch] = end;
    for (std::size_t t : outgoing_[p]) send(t, batch, end);
  }

  void send(std::size_t t, std::size_t batch, double ready) {
    const PipelineCosts::Transfer& transfer = costs_.transfers[t];
    const int from = shape_.stage_of(transfer.from), to = shape_.stage_of(transfer.to);
    if (from == to) {
      arrived_[t * batches_ + batch] = ready;
      return;
    }
    double& free =
        links_[static_cast<std::size_t>(from) * order_.size() + static_cast<std::size_t>(to)];
    free = std::max(free, ready) + transfer.seconds;
    arrived_[t * batches_ + batch] = free;
  }

  void sum_up() {
    double busy = 0;
    for (std::size_t s = 0; s < times_.stages.size(); ++s) {
      PipelineTimes::Stage& stage = times_.stages[s];
      if (!stage.spans.empty()) times_.seconds = std::max(times_.seconds, stage.spans.back().end);
      busy += stage.busy;
      hold(static_cast<int>(s), stage);
    }
    const double all = times_.seconds * static_cast<double>(times_.stages.size());
    times_.bubble = all > 0 ? std::max(0.0, 1 - busy / all) : 0;
  }

  // What micro-batches leave for their way back is there in between.
  void hold(int s, PipelineTimes::Stage& stage) const {
    std::int64_t held = costs_.resident[static_cast<std::size_t>(s)];
    stage.peak_bytes = held;
    for (PipelineTimes::Span& span : stage.spans) {
      if (span.task.kind == TaskKind::update) continue;
      const int position = position_of(shape_, s, span.task);
      const std::int64_t kept =
          costs_.kept[static_cast<std::size_t>(shape_.virtual_stage_of(position))];
      if (span.task.kind == TaskKind::forward) held += kept;
      const std::int64_t now = held + costs_.while_busy[static_cast<std::size_t>(position)];
      span.bytes = now;
      if (now > stage.peak_bytes) {
        stage.peak_bytes = now;
        stage.peak_at = span.begin;
      }
      if (span.task.kind == TaskKind::backward || !shape_.backward) held -= kept;
    }
  }

  const PipelineShape& shape_;
  const PipelineOrder& order_;
  const PipelineCosts& costs_;
  std::vector<std::vector<std::size_t>> incoming_, outgoing_;  // transfers, by position
  std::size_t batches_ = 0;
  std::vector<double> arrived_, ended_;  // by transfer or position, and micro-batch
  std::vector<std::size_t> next_;        // task of each stage
  std::vector<double> links_;            // by pair of stages: when they are free again
  PipelineTimes times_;
};

Verdict fits(const PipelineShape& shape, const PipelineOrder& order, const PipelineCosts& costs) {
  const auto stages = static_cast<std::size_t>(shape.stages),
             positions = static_cast<std::size_t>(shape.positions());
  HEDDLE_CHECK(order.size() == stages && costs.once.size() == stages &&
                   costs.resident.size() == stages && costs.seconds.size() == positions &&
                   costs.while_busy.size() == positions &&
                   costs.kept.size() == static_cast<std::size_t>(shape.virtual_stages()),
               "costs are of another shape");
  for (const PipelineCosts::Transfer& t : costs.transfers)
    if (t.from < 0 || t.to >= shape.positions() || t.from >= t.to)
      return reason("a value goes from position {} to {}: it goes to later ones only", t.from,
                    t.to);
  return yes();
}

}  // namespace

std::int64_t PipelineTimes::peak_bytes() const {
  std::int64_t most = 0;
  for (const Stage& stage : stages) most = std::max(most, stage.peak_bytes);
  return most;
}

Expected<PipelineTimes> time_pipeline(const PipelineShape& shape, const PipelineOrder& order,
                                      const PipelineCosts& costs) {
  HEDDLE_TRY_VOID(fits(shape, order, costs));
  return Clockwork(shape, order, costs).run();
}

}  // namespace heddle
