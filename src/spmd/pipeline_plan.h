// Who does what in a pipeline, and what goes from one stage to another.
#pragma once

#include <map>
#include <set>

#include "heddle/row_parts.h"
#include "heddle/stage_programs.h"

namespace heddle {

// The position of every op that is run per micro-batch: as said, or that of the last value that it
// needs; -1 where it needs none, and for all others.
Expected<std::vector<int>> settled_positions(const Program& program, const Function& function,
                                             const std::vector<MicroPhase>& phases,
                                             const std::vector<int>& said);

// What goes from one position to another for every micro-batch, in one message.
struct StageMessage {
  PipelineEdge edge;
  std::int64_t channel = 0;
  std::vector<ValueId> values;
};

// What goes once in a step: an argument or rows of it that another stage has, or a value that comes
// after sums.
struct OnceMessage {
  ValueId value = kNone;
  int from = 0, to = 0;
  std::int64_t channel = 0;
};

struct PipelinePlan {
  PipelineShape shape;
  std::vector<MicroPhase> phases;        // by OpId
  std::vector<int> positions;            // by OpId; -1: wherever it is needed
  std::vector<int> stages;               // by OpId: of what comes after
  std::vector<std::set<int>> arguments;  // by argument: the stages that have it
  std::vector<std::set<int>> needed;     // by argument: the stages that need it
  std::vector<int> results;              // by result: its stage
  // By argument and result: rows that lie on stages of their own, and the stage of each; else none.
  std::vector<RowParts> argument_rows, result_rows;
  std::vector<std::vector<int>> argument_row_stages, result_row_stages;
  std::vector<StageMessage> messages;
  std::vector<OnceMessage> argument_messages, after_messages;
};

Expected<PipelinePlan> plan_pipeline(const Program& program, const Function& function,
                                     const MicroBatches& micro, const PipelineShape& shape,
                                     const std::vector<Carried>& carried);

}  // namespace heddle
