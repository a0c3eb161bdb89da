// Evaluations of the ops that change shapes, and the checks that type rules share with them because
// the dynamic ops get the same numbers only at run time.
#pragma once

#include "ir/eval/eval.h"
#include "ir/eval/index_space.h"

namespace heddle {

using Evaluated = Expected<std::vector<Array>>;

Evaluated eval_constant(EvalContext& ctx);
Evaluated eval_iota(EvalContext& ctx);
Evaluated eval_dynamic_iota(EvalContext& ctx);
Evaluated eval_reshape(EvalContext& ctx);
Evaluated eval_dynamic_reshape(EvalContext& ctx);
Evaluated eval_broadcast(EvalContext& ctx);
Evaluated eval_broadcast_in_dim(EvalContext& ctx);
Evaluated eval_dynamic_broadcast_in_dim(EvalContext& ctx);
Evaluated eval_transpose(EvalContext& ctx);
Evaluated eval_reverse(EvalContext& ctx);
Evaluated eval_concatenate(EvalContext& ctx);
Evaluated eval_pad(EvalContext& ctx);
Evaluated eval_dynamic_pad(EvalContext& ctx);
Evaluated eval_slice(EvalContext& ctx);
Evaluated eval_real_dynamic_slice(EvalContext& ctx);
Evaluated eval_get_dimension_size(EvalContext& ctx);
Evaluated eval_set_dimension_size(EvalContext& ctx);

// One value per dimension each.
struct Padding {
  Index low, high, interior;
};
// The result's shape, by C2 to C4 of pad.
Expected<Shape> padded_shape(const Op& op, const Shape& operand, const Padding& padding);

struct SliceBounds {
  Index start, limit, strides;
};
// The result's shape, by C2 to C5 of slice.
Expected<Shape> sliced_shape(const Op& op, const Shape& operand, const SliceBounds& bounds);

}  // namespace heddle
