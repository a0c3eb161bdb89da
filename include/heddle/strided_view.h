// StridedView: how the elements of a tensor lie in the memory of another value, so that a library
// can read or write them there instead of a copy.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/program.h"

namespace heddle {

// One dimension of a strided walk.
struct Stride {
  std::int64_t size = 1, step = 0;  // in elements
  friend bool operator==(const Stride&, const Stride&) = default;
};

// Leaves out dimensions of one element and joins those that continue one another.
std::vector<Stride> join_strides(const std::vector<Stride>& dims);

struct StridedView {
  ValueId value = kNone;                  // whose memory it is
  std::int64_t offset = 0;                // of the first element
  std::vector<std::vector<Stride>> dims;  // by dimension of the tensor: major first
};

// Where a matrix product finds its operands and leaves its result; offset 0 for the result.
struct ProductViews {
  StridedView lhs, rhs, result;
};

// A value as it lies.
StridedView dense_view(const Program& program, ValueId value);

// The result of an op that only moves elements (transpose, reshape, slice, broadcast_in_dim), seen
// in the memory in which its operand is seen; nothing where no strides can say that.
std::optional<StridedView> view_through(const Program& program, const Op& op,
                                        const StridedView& operand);

// The operand of a transpose or reshape, seen in the memory in which the result is seen.
std::optional<StridedView> view_back(const Program& program, const Op& op,
                                     const StridedView& result);

// Whether an op's results may lie in the memory of its operands, by its row and types: nothing
// moves.
bool is_view(const Program& program, const Op& op);

}  // namespace heddle
