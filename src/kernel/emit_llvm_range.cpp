#include "kernel/emit_llvm_range.h"

#include <algorithm>
#include <limits>

namespace heddle {

namespace {

using Int128 = __int128;

std::optional<Range> range_of(Int128 least, Int128 most) {
  if (least < std::numeric_limits<std::int64_t>::min() ||
      most > std::numeric_limits<std::int64_t>::max())
    return std::nullopt;
  return Range{static_cast<std::int64_t>(least), static_cast<std::int64_t>(most)};
}

}  // namespace

bool fits_narrow(const std::optional<Range>& range) {
  return range && range->least >= std::numeric_limits<std::int32_t>::min() &&
         range->most <= std::numeric_limits<std::int32_t>::max();
}

std::optional<Range> clamp_range(const std::optional<Range>& low,
                                 const std::optional<Range>& high) {
  if (!low || !high) return std::nullopt;
  return Range{std::min(low->least, high->least), std::max(low->most, high->most)};
}

std::optional<Range> range_of_pair(ScalarOp op, const Range& a, const Range& b) {
  switch (op) {
    case ScalarOp::add:
      return range_of(Int128{a.least} + b.least, Int128{a.most} + b.most);
    case ScalarOp::subtract:
      return range_of(Int128{a.least} - b.most, Int128{a.most} - b.least);
    case ScalarOp::multiply: {
      const Int128 ends[] = {Int128{a.least} * b.least, Int128{a.least} * b.most,
                             Int128{a.most} * b.least, Int128{a.most} * b.most};
      return range_of(*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4));
    }
    case ScalarOp::divide:
      if (b.least != b.most || b.least <= 0) return std::nullopt;
      return Range{a.least / b.least, a.most / b.least};
    case ScalarOp::minimum:
      return Range{std::min(a.least, b.least), std::min(a.most, b.most)};
    case ScalarOp::maximum:
      return Range{std::max(a.least, b.least), std::max(a.most, b.most)};
    case ScalarOp::select:
      return Range{std::min(a.least, b.least), std::max(a.most, b.most)};
    default:
      return std::nullopt;
  }
}

std::optional<Range> range_of_type(DType type) {
  if (type == DType::i1) return Range{0, 1};
  if (is_float(type) || byte_size(type) > 4) return std::nullopt;
  const int width = 8 * byte_size(type);
  const bool has_sign = type == DType::i8 || type == DType::i16 || type == DType::i32;
  if (!has_sign) return Range{0, (std::int64_t{1} << width) - 1};
  return Range{-(std::int64_t{1} << (width - 1)), (std::int64_t{1} << (width - 1)) - 1};
}

}  // namespace heddle
