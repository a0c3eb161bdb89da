// A pipeline as its devices have it: how those of a stage share the work of a micro-batch, which
// stage does what, and when, by predicted times.
#pragma once

#include "heddle/placement.h"
#include "heddle/spmd.h"
#include "heddle/stage_programs.h"
#include "heddle/target.h"

namespace heddle {

struct Pipeline {
  // What a device of any stage would do of all of it, for one micro-batch, on the mesh of a stage.
  Spmd spmd;
  SpmdFunction whole;  // its entry, with arguments and results of the whole batch
  StageCut cut;        // of the ops of spmd.logical()
  std::string mesh, axis;
  StagePrograms programs;
  Placement placement;
  PipelineTimes times;
  int effort = 0;  // of what is computed again instead of being kept for the way back
  std::int64_t micro_batches() const { return cut.shape.micro_batches; }
};

// The target's pipeline: micro-batches, the cut into stages, and who does what. Programs of stages,
// with all of their micro-batches one after the other, are written where they are wanted.
Expected<Pipeline> distribute_pipeline(const Program& program, const Target& target,
                                       bool with_programs = true);

}  // namespace heddle
