// Which values an i64 of a kernel can take.
#pragma once

#include <cstdint>
#include <optional>

#include "heddle/dtype.h"
#include "heddle/scalar_op.h"

namespace heddle {

struct Range {
  std::int64_t least = 0, most = 0;
};

bool fits_narrow(const std::optional<Range>& range);  // in 32 bits

// Of an operation on two values; none where nothing is known.
std::optional<Range> range_of_pair(ScalarOp op, const Range& a, const Range& b);
std::optional<Range> clamp_range(const std::optional<Range>& low, const std::optional<Range>& high);
// All values of a short integer type.
std::optional<Range> range_of_type(DType type);

}  // namespace heddle
