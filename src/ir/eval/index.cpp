// Reference evaluations: slices at run-time positions, and selections along one dimension.
#include "ir/eval/index.h"

#include "ir/attr_access.h"
#include "ir/eval/index_space.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

// Start indices come as scalars; a slice that would stick out is moved back inside.
ElementPlaces clamped_box(std::span<const Array> starts, const Shape& whole, const Shape& box) {
  ElementPlaces places{0, row_major_strides(whole)};
  for (std::size_t d = 0; d < whole.size(); ++d) {
    std::int64_t start = std::clamp<std::int64_t>(integer_at(starts[d], 0), 0, whole[d] - box[d]);
    places.base += start * places.steps[d];
  }
  return places;
}

}  // namespace

Expected<std::vector<Array>> eval_dynamic_slice(EvalContext& ctx) {
  const Array& operand = ctx.operands[0];
  const Type& type = ctx.result_type();
  if (type.elements() == 0) return std::vector<Array>{Array(type)};
  ElementPlaces places = clamped_box(ctx.operands.subspan(1), operand.shape(), type.shape);
  return std::vector<Array>{pick_elements(operand, type, places)};
}

Expected<std::vector<Array>> eval_dynamic_update_slice(EvalContext& ctx) {
  Array result = ctx.operands[0];
  const Array& update = ctx.operands[1];
  if (update.elements() > 0)
    put_elements(result, update,
                 clamped_box(ctx.operands.subspan(2), result.shape(), update.shape()));
  return std::vector<Array>{std::move(result)};
}

// Result dimensions: those of the operand before `dim`, of the index after its batch dimensions,
// and of the operand after `dim`.
Expected<std::vector<Array>> eval_torch_index_select(EvalContext& ctx) {
  const Array& operand = ctx.operands[0];
  const Array& index = ctx.operands[1];
  auto dim = static_cast<std::size_t>(integer_or(ctx.attr("dim"), 0));
  auto batch = static_cast<std::size_t>(integer_or(ctx.attr("batch_dims"), 0));
  Array result(ctx.result_type());
  if (result.elements() == 0) return std::vector<Array>{std::move(result)};
  std::int64_t size = operand.shape()[dim];
  if (size == 0)
    return broken(ctx.op, "", "dimension {} of {} has no elements to select", dim,
                  operand.type().str());
  Index steps = row_major_strides(operand.shape());
  Index index_steps = row_major_strides(index.shape());
  auto out = result.mutable_bytes();
  auto bytes = static_cast<std::size_t>(byte_size(result.dtype()));
  std::size_t written = 0;
  for (IndexWalk at(result.shape()); at; ++at, written += bytes) {
    std::int64_t which = 0;
    for (std::size_t d = 0; d < index_steps.size(); ++d)
      which += at[d < batch ? d : dim + d - batch] * index_steps[d];
    std::int64_t flat =
        std::clamp<std::int64_t>(integer_at(index, which), 0, size - 1) * steps[dim];
    for (std::size_t d = 0; d < dim; ++d) flat += at[d] * steps[d];
    for (std::size_t d = dim + 1; d < steps.size(); ++d)
      flat += at[d - 1 + index_steps.size() - batch] * steps[d];
    std::memcpy(out.data() + written, operand.element(flat).data(), bytes);
  }
  return std::vector<Array>{std::move(result)};
}

}  // namespace heddle
