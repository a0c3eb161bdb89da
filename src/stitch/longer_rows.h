// Which values lie in memory with more elements in some dimensions than they have, because matrix
// products want even rows, and even lengths of what they sum up along rows.
#pragma once

#include <optional>
#include <unordered_map>

#include "heddle/device_calls.h"
#include "heddle/machine.h"

namespace heddle {

struct LongerRows {
  // By value, the shape that it lies in; none: as it is.
  std::unordered_map<ValueId, Shape> shapes;
  // By product, how many terms it sums up where that is more than it has: zeros of both operands.
  std::unordered_map<const Op*, std::int64_t> sums;

  const Shape* shape_of(ValueId value) const {
    const auto it = shapes.find(value);
    return it == shapes.end() ? nullptr : &it->second;
  }
};

LongerRows choose_longer_rows(const Program& program, const DeviceCalls& calls,
                              const MachineFigures& machine);

// Whether it is a product of the device's library that reads and writes by strides.
bool is_product_call(const Program& program, const Op& op, const DeviceCalls& calls);

// A dimension of a value, or of what transposes have turned to it: padding goes in front of them,
// so that products still read through them.
struct PlaceToPad {
  ValueId value = kNone;
  std::size_t dim = 0;
  std::vector<OpId> transposes;  // the last one first
};
PlaceToPad place_to_pad(const Program& program, ValueId value, std::int64_t dim);

// Where a product's result gets its last dimension from.
struct ColumnSource {
  std::size_t operand = 0;
  PlaceToPad place;
};
std::optional<ColumnSource> column_source(const Program& program, const Op& product);

}  // namespace heddle
