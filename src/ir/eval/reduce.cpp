// reduce and map: a region run once per element, in row-major order from the initial value.
#include "ir/eval/reduce.h"

#include "ir/eval/reduce_common.h"

namespace heddle {

using namespace reduction;

Verdict reduce_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  HEDDLE_TRY_VOID(inputs_and_inits(program, op, {"C3", "C1", "C2"}));
  const std::size_t n = op.result_count;
  const Type& first = operand_type(program, op, 0);
  HEDDLE_TRY(auto dims, OpAttrs({program, op}).integers("dimensions"));
  HEDDLE_TRY_VOID(dimensions_in_range(op, "C4", "dimensions", dims, first.rank()));
  HEDDLE_TRY_VOID(dimensions_unique(op, "C5", "dimensions", dims));
  HEDDLE_TRY_VOID(reducer_types(program, op, n, "C6", "C8"));
  const Shape kept = axes_of(first.shape, other_dimensions(first.rank(), dims)).sizes;
  for (std::size_t i = 0; i < n; ++i)
    if (result_type(program, op, i).shape != kept)
      return broken(op, "C7", "result {} is {}, expected the shape {}", i,
                    result_type(program, op, i).str(), list_text(kept));
  return yes();
}

Expected<std::vector<Array>> evaluate_reduce(EvalContext& ctx) {
  const std::size_t n = ctx.op.result_count;
  const Shape& shape = ctx.operands[0].shape();
  Integers dims = integers_or(ctx.attr("dimensions"));
  std::sort(dims.begin(), dims.end());  // row-major order, however the text lists them
  const Axes kept = axes_of(shape, other_dimensions(shape.size(), dims));
  const Axes reduced = axes_of(shape, dims);
  if (kept.steps() * reduced.steps() > kMostRegionRuns)
    return reason("{} {} runs of the body are too much for the reference interpreter",
                  bracketed(ctx.op), kept.steps() * reduced.steps());
  auto [inputs, inits, results] = reduce_values(ctx);
  for (std::int64_t at = 0; at < results[0].elements(); ++at) {
    std::vector<Array> accumulators = inits;
    for (std::int64_t r = 0; r < reduced.count(); ++r) {
      const std::int64_t from = kept.offset(at) + reduced.offset(r);
      std::vector<Array> elements;
      for (const Array& input : inputs) elements.push_back(element_array(input, from));
      HEDDLE_TRY_VOID(run_reducer(ctx, ctx.region(0), accumulators, std::move(elements)));
    }
    for (std::size_t i = 0; i < n; ++i) put_element(results[i], at, accumulators[i]);
  }
  return results;
}

Verdict map_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  const Type& result = result_type(program, op, 0);
  std::vector<Type> scalars;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const Type& input = operand_type(program, op, i);
    if (input.shape != result.shape)
      return broken(op, "C1", "input {} is {}, but the result is {}: their shapes differ", i,
                    input.str(), result.str());
    scalars.push_back(Type::tensor(input.dtype, {}));
  }
  HEDDLE_TRY(auto dims, OpAttrs({program, op}).integers("dimensions"));
  if (dims != other_dimensions(result.rank(), {}))
    return broken(op, "C3", "dimensions = {}, expected all {} dimensions in order", list_text(dims),
                  result.rank());
  return region_types(program, op, 0, "C4", scalars, {Type::tensor(result.dtype, {})});
}

Expected<std::vector<Array>> evaluate_map(EvalContext& ctx) {
  Array result(ctx.result_type());
  for (std::int64_t at = 0; at < result.elements(); ++at) {
    std::vector<Array> elements;
    for (const Array& input : ctx.operands) elements.push_back(element_array(input, at));
    HEDDLE_TRY(auto returned, ctx.run_region(ctx.region(0), std::move(elements)));
    put_element(result, at, returned[0]);
  }
  return std::vector<Array>{std::move(result)};
}

}  // namespace heddle
