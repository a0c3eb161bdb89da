// What the stages of a pipeline do: one program each, for every device of the stage. Micro-batches
// are written out one after the other, in the order that was fixed; what another stage needs is
// sent there, device i of one stage to device i of the other.
#pragma once

#include "heddle/micro_batches.h"
#include "heddle/pipeline.h"
#include "heddle/row_parts.h"

namespace heddle {

// Messages of a channel that nobody has received yet: every transport has room for so many.
inline constexpr int kMessageRoom = 8;

// Who sends on a channel, and who receives there.
struct StageChannel {
  std::int64_t channel = 0;
  int from = 0, to = 0;    // stages
  std::int64_t bytes = 0;  // that one device sends in a step
  std::int64_t messages = 1;
};

struct StageProgram {
  Program program;
  std::vector<std::size_t> arguments, results;  // which of the whole function's, in order
};

// Where an argument or result of the whole function lies: alike on all of these stages, or some
// rows of it on each.
struct StagesOfValue {
  std::vector<int> stages;
  std::vector<std::vector<RowRange>> rows;  // by stage of `stages`; empty: all of it
};

struct StagePrograms {
  PipelineShape shape;
  std::string function;
  std::vector<StageProgram> stages;
  // Where those of the whole function lie. What is carried lies on one stage, or its rows do.
  std::vector<StagesOfValue> arguments, results;
  std::vector<StageChannel> channels;
};

// A cut by cost alone: forward in runs of equal work, the way back where its values are.
Expected<StageCut> balanced_cut(const MicroBatches& micro, const PipelineShape& shape);
// Whether the program goes back, so that gradients come out of it.
bool has_way_back(const MicroBatches& micro);

// The same program in the order of positions, each op with its own, so that what is written for it
// is known by that. A reason where a value would go back to an earlier position.
Expected<MicroBatches> in_positions(const MicroBatches& micro, const StageCut& cut);

// From what one device of any stage would do of all of it (in_positions, then partitioned, its
// arguments and results still those of a micro-batch). It is checked that nobody waits for ever.
// Without `written` only what lies and goes where is said.
Expected<StagePrograms> stage_programs(const Program& device, const MicroBatches& micro,
                                       const PipelineShape& shape,
                                       const std::vector<Carried>& carried, bool written = true);

}  // namespace heddle
