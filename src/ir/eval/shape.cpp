// Reference evaluations of the ops that change shapes. Elements are moved as bytes.
#include "ir/eval/shape.h"

#include "ir/eval/scalar.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

Evaluated one(Array array) {
  std::vector<Array> results;
  results.push_back(std::move(array));
  return results;
}

// A shape that came as data must be the one that the result's type has.
Verdict check_run_time_shape(const EvalContext& ctx, const Array& shape) {
  HEDDLE_TRY(Index wanted, integer_values(shape));
  if (wanted == ctx.result_type().shape) return yes();
  return broken(ctx.op, "", "the shape at run time is {}, but the result's type is {}",
                list_text(wanted), ctx.result_type().str());
}

}  // namespace

Evaluated eval_constant(EvalContext& ctx) { return one(*ctx.attr("value")->get<Array>()); }

Evaluated eval_iota(EvalContext& ctx) {
  HEDDLE_TRY(std::int64_t dimension, integer(ctx.attr("iota_dimension")));
  Array result(ctx.result_type());
  dispatch(result.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto out = result.as_mutable<T>();
    std::size_t flat = 0;
    for (IndexWalk at(result.shape()); at; ++at)
      out[flat++] = convert_scalar<T>(at[static_cast<std::size_t>(dimension)]);
  });
  return one(std::move(result));
}

Evaluated eval_dynamic_iota(EvalContext& ctx) {
  HEDDLE_TRY_VOID(check_run_time_shape(ctx, ctx.operands[0]));
  return eval_iota(ctx);
}

Evaluated eval_reshape(EvalContext& ctx) {
  const Array& operand = ctx.operands[0];
  if (operand.is_splat()) return one(Array::splat(ctx.result_type(), operand.element(0)));
  return one(operand.reinterpreted(ctx.result_type()));
}

Evaluated eval_dynamic_reshape(EvalContext& ctx) {
  HEDDLE_TRY_VOID(check_run_time_shape(ctx, ctx.operands[1]));
  return eval_reshape(ctx);
}

Evaluated eval_broadcast(EvalContext& ctx) {
  // The new dimensions come first; along them the same elements come again.
  const Array& operand = ctx.operands[0];
  Index strides = row_major_strides(operand.shape());
  Index steps(ctx.result_type().rank() - strides.size(), 0);
  steps.insert(steps.end(), strides.begin(), strides.end());
  return one(pick_elements(operand, ctx.result_type(), {0, steps}));
}

Evaluated eval_broadcast_in_dim(EvalContext& ctx) {
  HEDDLE_TRY(Index dims, integers(ctx.attr("broadcast_dimensions")));
  const Array& operand = ctx.operands[0];
  Index strides = row_major_strides(operand.shape());
  Index steps(ctx.result_type().rank(), 0);
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (operand.shape()[d] != 1) steps[static_cast<std::size_t>(dims[d])] = strides[d];
  return one(pick_elements(operand, ctx.result_type(), {0, steps}));
}

Evaluated eval_dynamic_broadcast_in_dim(EvalContext& ctx) {
  HEDDLE_TRY_VOID(check_run_time_shape(ctx, ctx.operands[1]));
  return eval_broadcast_in_dim(ctx);
}

Evaluated eval_transpose(EvalContext& ctx) {
  HEDDLE_TRY(Index permutation, integers(ctx.attr("permutation")));
  Index strides = row_major_strides(ctx.operands[0].shape());
  Index steps;
  for (std::int64_t d : permutation) steps.push_back(strides[static_cast<std::size_t>(d)]);
  return one(pick_elements(ctx.operands[0], ctx.result_type(), {0, steps}));
}

Evaluated eval_reverse(EvalContext& ctx) {
  HEDDLE_TRY(Index dims, integers(ctx.attr("dimensions")));
  const Array& operand = ctx.operands[0];
  if (operand.elements() == 0) return one(operand);
  ElementPlaces places{0, row_major_strides(operand.shape())};
  for (std::int64_t dim : dims) {
    auto d = static_cast<std::size_t>(dim);
    places.base += (operand.shape()[d] - 1) * places.steps[d];
    places.steps[d] = -places.steps[d];
  }
  return one(pick_elements(operand, ctx.result_type(), places));
}

Evaluated eval_concatenate(EvalContext& ctx) {
  HEDDLE_TRY(std::int64_t dimension, integer(ctx.attr("dimension")));
  auto d = static_cast<std::size_t>(dimension);
  Array result(ctx.result_type());
  if (result.elements() == 0) return one(std::move(result));
  ElementPlaces places{0, row_major_strides(result.shape())};
  for (const Array& part : ctx.operands) {
    put_elements(result, part, places);
    places.base += part.shape()[d] * places.steps[d];
  }
  return one(std::move(result));
}

Evaluated eval_get_dimension_size(EvalContext& ctx) {
  HEDDLE_TRY(std::int64_t dimension, integer(ctx.attr("dimension")));
  std::int64_t size = ctx.operands[0].shape()[static_cast<std::size_t>(dimension)];
  return one(scalar_array(static_cast<std::int32_t>(size)));
}

Evaluated eval_set_dimension_size(EvalContext& ctx) {
  HEDDLE_TRY(std::int64_t dimension, integer(ctx.attr("dimension")));
  std::int64_t size = integer_at(ctx.operands[1], 0);
  std::int64_t has = ctx.operands[0].shape()[static_cast<std::size_t>(dimension)];
  if (size != has)
    return broken(ctx.op, "", "dimension {} of {} cannot become {}: sizes are static here",
                  dimension, ctx.operands[0].type().str(), size);
  return one(ctx.operands[0]);
}

}  // namespace heddle
