// Collectives among the devices that meet in another one already.
#pragma once

#include "schedule/steps/edit.h"

namespace heddle {

// Groups and channel of `like`.
ValueId write_all_gather(Edit& edit, RegionId at, const Op& like, ValueId v, std::size_t dim,
                         std::int64_t members);
// The computation is that of `like`, an all_reduce or reduce_scatter.
ValueId write_reduce_scatter(Edit& edit, RegionId at, const Op& like, ValueId v, std::size_t dim,
                             std::int64_t members);
ValueId write_all_reduce(Edit& edit, RegionId at, const Op& like, ValueId v, ReduceOp op);
// The first member gets the result; what it has goes to all.
ValueId write_reduce(Edit& edit, RegionId at, const Op& like, ValueId v);
ValueId write_broadcast(Edit& edit, RegionId at, const Op& like, ValueId v);

}  // namespace heddle
