// Moves around matrix products that no kernel has to do: the product reads its operands, and writes
// its result, by strides where they lie.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "heddle/device_calls.h"
#include "heddle/strided_view.h"

namespace heddle {

struct FoldedMoves {
  std::unordered_map<OpId, ProductViews> products;  // only those with something folded
  std::unordered_set<OpId> dropped;                 // moves that nobody needs any more
};

FoldedMoves fold_moves(const Program& program, RegionId region, const DeviceCalls& calls);

}  // namespace heddle
