// Which block, vector and lane of a CPU has which point of a stage, as a Layout.
#pragma once

#include <string>
#include <vector>

#include "kernel/emit_llvm_shape.h"
#include "kernel/round.h"

namespace heddle {

// Vectors of one turn of the vectorised loop, and their lanes: [points]. Several where they are
// cheap, so that loads and sums overlap.
Round cpu_round(const Stage& stage, const StageShape& shape);
// Instructions of a vector, roughly.
int vector_work(const Stage& stage, const StageShape& shape);

// Of [blocks, each loop of a block]: workers take blocks, and go through the loops step by step.
Expected<Layout> cpu_stage_layout(const Phase& phase, const Stage& stage, const StageShape& shape);

// For people: how the first stages of a kernel are shared.
std::vector<std::string> describe_cpu_mapping(const Kernel& kernel, const VectorTarget& target);

}  // namespace heddle
