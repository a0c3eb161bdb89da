// The dimension numbers of gather and scatter, which mirror each other.
#pragma once

#include "heddle/op.h"
#include "ir/eval/index_space.h"

namespace heddle {

struct IndexDims {
  Index window;             // dimensions of the result (of the updates) that run within one slice
  Index collapsed;          // dimensions of the operand that a slice has one element of, left out
  Index batching;           // dimensions of the operand that go along with …
  Index indices_batching;   // … these of the indices
  Index map;                // component i of an index vector is for dimension map[i]
  std::int64_t vector = 0;  // the dimension of the indices that holds index vectors
};

Expected<IndexDims> gather_dims(const Program& program, const Op& op);
Expected<IndexDims> scatter_dims(const Program& program, const Op& op);

// The constraints on the numbers that gather and scatter share. `outside` is the result's rank for
// gather and the updates' for scatter.
Verdict check_gather_dims(const Op& op, const IndexDims& dims, const Type& operand,
                          const Type& indices, std::size_t outside);
Verdict check_scatter_dims(const Op& op, const IndexDims& dims, const Type& operand,
                           const Type& indices, std::size_t outside);

// 0 … rank - 1 without those listed.
std::vector<std::size_t> axes_except(std::size_t rank, std::span<const std::int64_t> left_out);
// Dimensions of the operand that a window runs over, in order.
std::vector<std::size_t> window_axes(const IndexDims& dims, std::size_t operand_rank);
// The result's shape for gather, the updates' for scatter: window sizes at the window dimensions,
// and the sizes of the indices at the others. A reason where the numbers do not fit together.
Expected<Shape> combined_shape(const Op& op, std::string_view label, const IndexDims& dims,
                               const Shape& indices, std::span<const std::int64_t> window_sizes);

// Where slices start: reads index vectors out of the array of indices.
class StartIndices {
 public:
  StartIndices(const Array& indices, const IndexDims& dims, std::size_t operand_rank);
  // The start of the slice at a batch index, one value per dimension of the operand; dimensions
  // that no index is for start at 0. Batching dimensions are not in it.
  const Index& start(std::span<const std::int64_t> batch);
  // The position along the batching dimensions, 0 elsewhere.
  const Index& batch_position(std::span<const std::int64_t> batch);

 private:
  const Array& indices_;
  const IndexDims& dims_;
  Index strides_, start_, position_;
};

}  // namespace heddle
