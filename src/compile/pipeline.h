// The stage of compile() that turns a program into those of the stages of a pipeline.
#pragma once

#include "heddle/pipelined.h"

namespace heddle {

Expected<Pipeline> pipeline_on(const Program& core, const Target& target, bool with_programs);

}  // namespace heddle
