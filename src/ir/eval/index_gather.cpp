// gather: one slice of the operand per index vector.
#include "ir/eval/index.h"
#include "ir/rules/index_dims.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

// C9, C12 and C20 to C22: what slice sizes must satisfy, at run time for dynamic_gather.
// Gives the result's shape.
Expected<Shape> sliced_shape(const Op& op, const IndexDims& dims, const Shape& operand,
                             const Shape& indices, const Index& sizes) {
  HEDDLE_TRY_VOID(check_count(op, "C20", "slice_sizes", sizes.size(), operand.size()));
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] < 0 || sizes[d] > operand[d])
      return broken(op, "C21", "slice size {} of dimension {} is not in 0 … {}", sizes[d], d,
                    operand[d]);
  for (std::int64_t d : dims.collapsed)
    if (sizes[static_cast<std::size_t>(d)] > 1)
      return broken(op, "C9", "slice size {} of collapsed dimension {} is above 1",
                    sizes[static_cast<std::size_t>(d)], d);
  for (std::int64_t d : dims.batching)
    if (sizes[static_cast<std::size_t>(d)] > 1)
      return broken(op, "C12", "slice size {} of batching dimension {} is above 1",
                    sizes[static_cast<std::size_t>(d)], d);
  Index window;
  for (std::size_t d : window_axes(dims, operand.size())) window.push_back(sizes[d]);
  return combined_shape(op, "C22", dims, indices, window);
}

// The rank of the result: the dimensions of the indices beside their vectors, and of the windows.
std::size_t gathered_rank(const IndexDims& dims, const Type& indices) {
  const bool has_vector =
      dims.vector >= 0 && dims.vector < static_cast<std::int64_t>(indices.rank());
  return dims.window.size() + indices.rank() - (has_vector ? 1 : 0);
}

// Picks what belongs to some dimensions out of a list with one value per dimension.
Index at_axes(const Index& values, const std::vector<std::size_t>& axes) {
  Index picked;
  for (std::size_t d : axes) picked.push_back(values[d]);
  return picked;
}

Expected<std::vector<Array>> gathered(EvalContext& ctx, const IndexDims& dims, const Index& sizes) {
  const Array& operand = ctx.operands[0];
  Array result(ctx.result_type());
  if (result.elements() == 0) return std::vector<Array>{std::move(result)};

  Index strides = row_major_strides(operand.shape());
  Index result_strides = row_major_strides(result.shape());
  auto window = window_axes(dims, strides.size());
  auto batch_axes = axes_except(result_strides.size(), dims.window);
  std::vector<std::size_t> offset_axes(dims.window.begin(), dims.window.end());
  Index batch_strides = at_axes(result_strides, batch_axes);
  ElementPlaces source{0, at_axes(strides, window)},
      target{0, at_axes(result_strides, offset_axes)};
  Shape box = at_axes(sizes, window);

  StartIndices starts(ctx.operands[1], dims, strides.size());
  auto from = operand.bytes();
  auto to = result.mutable_bytes();
  for (IndexWalk at(at_axes(result.shape(), batch_axes)); at; ++at) {
    const Index& start = starts.start(*at);
    const Index& position = starts.batch_position(*at);
    source.base = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) {
      std::int64_t place =
          std::clamp<std::int64_t>(start[d], 0, operand.shape()[d] - sizes[d]) + position[d];
      // Possible only where a dimension that is left out has a slice size of 0.
      if (place >= operand.shape()[d])
        return broken(ctx.op, "", "there is no element {} in dimension {} of {}", place, d,
                      operand.type().str());
      source.base += place * strides[d];
    }
    target.base = flat_index(*at, batch_strides);
    copy_box(box, byte_size(result.dtype()), from, source, to, target);
  }
  return std::vector<Array>{std::move(result)};
}

}  // namespace

Expected<ResultTypes> gather_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type &operand = operand_type(program, op, 0), &indices = operand_type(program, op, 1);
  HEDDLE_TRY(IndexDims dims, gather_dims(program, op));
  HEDDLE_TRY_VOID(check_gather_dims(op, dims, operand, indices, gathered_rank(dims, indices)));
  HEDDLE_TRY(Index sizes, (OpAttrs{program, op}.integers("slice_sizes")));
  HEDDLE_TRY(Shape shape, sliced_shape(op, dims, operand.shape, indices.shape, sizes));
  return typed(Type::tensor(operand.dtype, std::move(shape)), "C23", "C22");
}

Verdict dynamic_gather_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  const Type& result = result_type(program, op);
  HEDDLE_TRY_VOID(check_same_dtype(op, "C23", operand, result));
  HEDDLE_TRY(IndexDims dims, gather_dims(program, op));
  HEDDLE_TRY_VOID(
      check_gather_dims(op, dims, operand, operand_type(program, op, 1), result.rank()));
  return check_integer_vector(op, "C20", "slice_sizes", operand_type(program, op, 2),
                              operand_type(program, op, 0).rank());
}

Expected<std::vector<Array>> eval_gather(EvalContext& ctx) {
  HEDDLE_TRY(IndexDims dims, gather_dims(ctx.program, ctx.op));
  HEDDLE_TRY(Index sizes, integers(ctx.attr("slice_sizes")));
  return gathered(ctx, dims, sizes);
}

Expected<std::vector<Array>> eval_dynamic_gather(EvalContext& ctx) {
  HEDDLE_TRY(IndexDims dims, gather_dims(ctx.program, ctx.op));
  HEDDLE_TRY(Index sizes, integer_values(ctx.operands[2]));
  HEDDLE_TRY(Shape shape,
             sliced_shape(ctx.op, dims, ctx.operands[0].shape(), ctx.operands[1].shape(), sizes));
  HEDDLE_TRY_VOID(check_shape(ctx.op, "C22", shape, ctx.result_type()));
  return gathered(ctx, dims, sizes);
}

}  // namespace heddle
