// reduce and map: a region run once per element, in row-major order from the initial value.
#include "ir/eval/reduce.h"

#include "ir/eval/plain_reducer.h"
#include "ir/eval/reduce_common.h"

namespace heddle {

using namespace reduction;

Expected<ResultTypes> reduce_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  HEDDLE_TRY_VOID(inputs_and_inits(program, op, {"C3", "C1", "C2"}));
  const Type& first = operand_type(program, op, 0);
  HEDDLE_TRY(auto dims, OpAttrs({program, op}).integers("dimensions"));
  HEDDLE_TRY_VOID(dimensions_in_range(op, "C4", "dimensions", dims, first.rank()));
  HEDDLE_TRY_VOID(dimensions_unique(op, "C5", "dimensions", dims));
  HEDDLE_TRY(auto dtypes, reducer_types(program, op, op.operand_count / 2, "C6"));
  const Shape kept = axes_of(first.shape, other_dimensions(first.rank(), dims)).sizes;
  ResultTypes types;
  for (DType dtype : dtypes) types.add(typed(Type::tensor(dtype, kept), "C8", "C7"));
  return types;
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
  const auto plain = PlainReducer::of(ctx.program, ctx.region(0));
  for (std::int64_t at = 0; at < results[0].elements(); ++at) {
    const std::int64_t begin = kept.offset(at);
    if (plain) {
      std::uint64_t accumulator = bits_at(inits[0], 0);
      for (std::int64_t r = 0; r < reduced.count(); ++r)
        accumulator = (*plain)(accumulator, bits_at(inputs[0], begin + reduced.offset(r)));
      put_bits(results[0], at, accumulator);
      continue;
    }
    std::vector<Array> accumulators = inits;
    for (std::int64_t r = 0; r < reduced.count(); ++r) {
      const std::int64_t from = begin + reduced.offset(r);
      std::vector<Array> elements;
      for (const Array& input : inputs) elements.push_back(element_array(input, from));
      HEDDLE_TRY_VOID(run_reducer(ctx, ctx.region(0), accumulators, std::move(elements)));
    }
    for (std::size_t i = 0; i < n; ++i) put_element(results[i], at, accumulators[i]);
  }
  return results;
}

Expected<ResultTypes> map_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  const Type& first = operand_type(program, op, 0);
  std::vector<Type> scalars;
  for (std::size_t i = 0; i < op.operand_count; ++i) {
    const Type& input = operand_type(program, op, i);
    if (input.shape != first.shape)
      return broken(op, "C1", "input {} is {}, but input 0 is {}: their shapes differ", i,
                    input.str(), first.str());
    scalars.push_back(Type::tensor(input.dtype, {}));
  }
  HEDDLE_TRY(auto dims, OpAttrs({program, op}).integers("dimensions"));
  if (dims != other_dimensions(first.rank(), {}))
    return broken(op, "C3", "dimensions = {}, expected all {} dimensions in order", list_text(dims),
                  first.rank());
  HEDDLE_TRY(auto dtypes, region_dtypes(program, op, 0, "C4"));
  if (dtypes.size() != 1)
    return broken(op, "C4", "the body returns {} values, expected 1", dtypes.size());
  HEDDLE_TRY_VOID(region_types(program, op, 0, "C4", scalars, {Type::tensor(dtypes[0], {})}));
  return typed(Type::tensor(dtypes[0], first.shape), "C4", "C1");
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
