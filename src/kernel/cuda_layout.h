// Which block, warp, lane and vector of a GPU has which point of a stage, as a Layout.
//
// Of rows that stay in registers the layout is that of [rows, points of a row]; of other stages
// that of [points, others]: points of the loops that threads share, and positions of the other
// loops. What a block does in one turn is what emitters
// write (cuda_round.h); `turn` counts what a thread does one after the other of the first, and
// `step` of the second dimension.
#pragma once

#include "heddle/layout.h"
#include "kernel/cuda_flat.h"
#include "kernel/cuda_resident.h"
#include "kernel/emit_cuda_stage.h"

namespace heddle {

// A reason where positions are no layout: blocks of a cluster whose parts their threads do not
// divide.
Expected<Layout> cuda_row_layout(const CudaResident& resident, std::int64_t grid,
                                 const AxisRegistry& axes);
Expected<Layout> cuda_stage_layout(const Kernel& kernel, const Phase& phase, const Stage& stage,
                                   int threads, int cluster, const AxisRegistry& axes);
// Of elements one after the other, as [elements].
Expected<Layout> cuda_flat_layout(const CudaFlat& flat, const AxisRegistry& axes);

// For people: how each phase is shared, in words, as layouts, and the first as a picture.
std::vector<std::string> describe_cuda_mapping(const Kernel& kernel, const CudaLimits& limits);

}  // namespace heddle
