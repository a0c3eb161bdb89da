// Static orders: one forward, one backward, plain and interleaved.
#include <algorithm>

#include "heddle/pipeline.h"

namespace heddle {

namespace {

using TaskKind = PipelineTask::Kind;

Verdict has_order(const PipelineShape& shape) {
  if (shape.stages < 1 || shape.micro_batches < 1 || shape.chunks < 1)
    return reason("a pipeline of {} stages, {} micro-batches and {} chunks: each is at least 1",
                  shape.stages, shape.micro_batches, shape.chunks);
  constexpr std::int64_t kMostTasks = 1 << 24;
  if (std::int64_t{shape.stages} * shape.micro_batches > kMostTasks / shape.chunks)
    return reason("a pipeline of {} stages, {} micro-batches and {} chunks is too large",
                  shape.stages, shape.micro_batches, shape.chunks);
  if (shape.chunks > 1 && shape.micro_batches % shape.stages != 0)
    return reason(
        "{} micro-batches on {} interleaved stages: they come in groups of {}, so take a multiple "
        "of that, or one chunk",
        shape.micro_batches, shape.stages, shape.stages);
  return yes();
}

// The n-th task of a stage in its direction: chunk by chunk for as many micro-batches as there are
// stages, then the next ones. Backward begins with the last chunk.
PipelineTask nth(const PipelineShape& shape, TaskKind kind, int n) {
  const int group = shape.chunks > 1 ? shape.stages : shape.micro_batches;
  const int in_group = n % (group * shape.chunks), chunk = in_group / group;
  return {kind, kind == TaskKind::forward ? chunk : shape.chunks - 1 - chunk,
          n / (group * shape.chunks) * group + in_group % group};
}

// How many forward tasks come before the first backward one.
int ahead(const PipelineShape& shape, int stage, int tasks) {
  const int behind = shape.stages - 1 - stage;
  if (shape.chunks == 1) return std::min(behind, tasks);
  // Where there is one group only, all go forward first.
  if (shape.micro_batches == shape.stages) return tasks;
  return std::min(2 * behind + (shape.chunks - 1) * shape.stages, tasks);
}

std::vector<PipelineTask> order_of(const PipelineShape& shape, int stage) {
  const int tasks = shape.micro_batches * shape.chunks;
  const int first = shape.backward ? ahead(shape, stage, tasks) : tasks;
  std::vector<PipelineTask> order;
  for (int n = 0; n < first; ++n) order.push_back(nth(shape, TaskKind::forward, n));
  for (int n = 0; shape.backward && n < tasks; ++n) {
    if (first + n < tasks) order.push_back(nth(shape, TaskKind::forward, first + n));
    order.push_back(nth(shape, TaskKind::backward, n));
  }
  order.push_back({TaskKind::update, 0, 0});
  return order;
}

}  // namespace

std::string_view name(PipelineTask::Kind kind) {
  switch (kind) {
    case TaskKind::forward:
      return "forward";
    case TaskKind::backward:
      return "backward";
    case TaskKind::update:
      break;
  }
  return "update";
}

int position_of(const PipelineShape& shape, int stage, const PipelineTask& task) {
  const int virtual_stage = task.chunk * shape.stages + stage;
  switch (task.kind) {
    case TaskKind::forward:
      return virtual_stage;
    case TaskKind::backward:
      return 2 * shape.virtual_stages() - 1 - virtual_stage;
    case TaskKind::update:
      break;
  }
  return shape.positions();
}

Expected<PipelineOrder> pipeline_order(const PipelineShape& shape) {
  HEDDLE_TRY_VOID(has_order(shape));
  PipelineOrder order;
  for (int stage = 0; stage < shape.stages; ++stage) order.push_back(order_of(shape, stage));
  return order;
}

}  // namespace heddle
