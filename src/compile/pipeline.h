// The stage of compile() that turns a program into those of the stages of a pipeline.
#pragma once

#include "heddle/pipeline_search.h"
#include "heddle/pipelined.h"

namespace heddle {

Expected<Pipeline> pipeline_on(const Program& core, const Target& target, bool with_programs);

// What a device of the fullest stage takes when it is compiled.
Expected<std::int64_t> bytes_of_stages(const Program& core, const Target& target);

// The best of stages, micro-batches and meshes, by what the search counts as their memory. Where
// nothing fits, `needed` is what the best cut that was seen takes of a device; 0: nobody knows.
// Below level 3 so many settings in a row that bring nothing (`patience`) end it; 0: the fewer, the
// larger the program is.
Expected<FoundPipeline> best_of_settings(const Program& core, const Target& target,
                                         std::int64_t& needed, std::size_t patience = 0);

}  // namespace heddle
