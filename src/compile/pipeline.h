// The stage of compile() that turns a program into those of the stages of a pipeline.
#pragma once

#include "heddle/placement.h"
#include "heddle/stage_programs.h"
#include "heddle/target.h"

namespace heddle {

struct Pipeline {
  StagePrograms programs;
  Placement placement;
};

// The target's pipeline: micro-batches, the cut into stages, and what a device of each does.
Expected<Pipeline> pipeline_on(const Program& core, const Target& target);

}  // namespace heddle
