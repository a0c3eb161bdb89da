// Array calls as ops, with NumPy's meaning where it differs from StableHLO's: whole numbers that
// are divided by 0, the sign of remainders, NaN in least and greatest, shifts by too much.
#pragma once

#include <span>
#include <string_view>

#include "heddle/builder.h"

namespace heddle {

// An elementwise call. Operands are of one shape, and of the element types of the call's loop, as
// NumPy resolves them; the result follows from these.
struct ElementwiseCall {
  std::string_view name;  // NumPy's: "floor_divide"
  int inputs = 1;
  // Whether it is there for a loop over this element type, that of the first operand.
  bool (*takes)(DType loop) = nullptr;
  Var (*write)(Builder& builder, std::span<const Var> operands) = nullptr;
};
std::span<const ElementwiseCall> elementwise_calls();
// Null where there is none.
const ElementwiseCall* find_elementwise(std::string_view name);

// Elements of another type, as NumPy converts them.
Var cast(Builder& builder, Var x, DType to);
// Over all of a shape, by NumPy's rule.
Var spread(Builder& builder, Var x, const Shape& shape);

// Reductions over dimensions, each once; they stay with size 1 where `keep` says so. Operands are
// of the type that is reduced in. name: sum, prod, max, min, any, all
Var reduce_call(Builder& builder, std::string_view name, Var x, const Builder::Dims& dims,
                bool keep);
// The first place of the greatest or least along one dimension, as i64; a NaN counts as such.
Var arg_extremum(Builder& builder, bool greatest, Var x, std::int64_t dim, bool keep);
// Sums or products up to each element: cumsum, cumprod.
Var running(Builder& builder, std::string_view name, Var x, std::int64_t dim);
// NumPy's matmul of arrays with at least one dimension each.
Var matmul_call(Builder& builder, Var x, Var y);

}  // namespace heddle
