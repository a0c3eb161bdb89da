// Work on lists of digits that several operations share.
#pragma once

#include <span>

#include "heddle/layout.h"

namespace heddle::detail {

// Drops unit digits and merges neighbours that count as one; the unique form of the map.
void canonical_digits(Digits& digits);

// Flips negative strides into `offset`, sorts, merges. Overlaps merge only where `overlap_is_one`.
Verdict canonical_set(Digits& iters, bool overlap_is_one, std::vector<AxisOffset>& offset);

// Adds value to the offset on axis; refuses sums such as n + 4 that are no single Dim.
Verdict add_offset(std::vector<AxisOffset>& offset, AxisId axis, const Dim& value);

Dim product(std::span<const Dim> sizes);
Dim extent_of(const Digits& digits);

// Cuts digits at the boundaries of shape. `who` opens the reason.
Expected<std::vector<Digits>> group_digits(const Digits& digits, std::span<const Dim> shape);

// The set of offsets `whole` without the direct summand `part`: whole = part + result.
Expected<Digits> set_quotient(const Digits& whole, const Digits& part);

// Smallest and largest position on an axis, offset included (constants only).
struct Range {
  std::int64_t lo = 0, hi = 0;
};
Range range_on(const LayoutParts& parts, AxisId axis);

// Every axis the layout touches, sorted.
std::vector<AxisId> axes_of(const Layout& layout);

std::string show(const Dim& dim);
std::string show(const Iter& iter);

}  // namespace heddle::detail
