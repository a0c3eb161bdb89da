// Cumulative sums and the like, which StableHLO writes as windows over everything so far.
#pragma once

#include <optional>

#include "heddle/index_rule.h"
#include "heddle/program.h"

namespace heddle {

struct Scan {
  std::size_t dim = 0;
  bool backward = false;  // from the last element to the first
};

// Whether a value is known to leave others as they are in a reduction.
bool is_neutral(const Program& program, ValueId value, ReduceOp op);

// Whether it makes no difference how often a reduce_window takes what it begins with: it takes that
// once more for every element outside.
bool begins_as_nothing(const Program& program, const Op& op);

// What a reduce_window scans, where its windows hold all elements up to their place, and elements
// outside do not count.
std::optional<Scan> scan_of(const Program& program, const Op& op);

// The rule of such an op: element by element, but for the order.
IndexRule scan_rule(const Program& program, const Op& op);

}  // namespace heddle
