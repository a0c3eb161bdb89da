// Runs of elements that change devices where the digits of two splits do not nest: rows in 8 blocks
// of 3, and every eighth row.
#pragma once

#include <optional>

#include "spmd/writer.h"

namespace heddle {

// One dimension changes, evenly split before and after, in a few runs; none where the whole
// dimension is better gathered.
std::optional<ValueId> write_exchange(Writer& writer, ValueId value, const Split& from,
                                      const Split& to);

}  // namespace heddle
