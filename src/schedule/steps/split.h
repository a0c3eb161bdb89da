// split: an all_reduce becomes a reduce_scatter and an all_gather, or a reduce and a broadcast.
#pragma once

#include "schedule/steps/edit.h"

namespace heddle {

struct SplitHow {
  std::optional<std::size_t> dim;  // that parts lie along; none: the first that is a multiple
  bool to_one = false;             // by way of one device: reduce and broadcast
};

// Makes the two collectives, in this order.
Expected<Rewritten> split(const Program& program, OpId all_reduce, const SplitHow& how = {});

}  // namespace heddle
