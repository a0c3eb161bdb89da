// Parts of a price, for those who know where operands lie.
#pragma once

#include "heddle/price.h"

namespace heddle {

// Values of an op that a kernel keeps to itself, so that they cost no memory traffic: operands,
// then results, by their bits.
using Stitched = std::uint64_t;

// All but bringing the operands and edges of them; results are wanted as these splits say. Who goes
// by bytes, op by op, leaves edges out: in small values their latency is more than all of the
// value.
Price price_of(OnMesh& on, const Op& op, const IndexRule& rule, const Choice& choice,
               std::span<const int> wanted, Stitched stitched = 0);

// How one element of every line gets from each device to all of them.
const Route& totals_route(OnMesh& on, const Type& totals, std::size_t dim, const SplitAxes& axes);

}  // namespace heddle
