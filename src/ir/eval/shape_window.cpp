// Padding and slicing: a box of elements at regular distances.
#include <limits>

#include "ir/eval/shape.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

// Wide enough that sums and products of the attributes cannot overflow.
__extension__ using Int128 = __int128;

Int128 padded_size(std::int64_t size, const Padding& padding, std::size_t d) {
  Int128 inside = size > 1 ? Int128{size - 1} * padding.interior[d] : 0;
  return Int128{size} + padding.low[d] + inside + padding.high[d];
}

// Along one dimension: which of the operand's elements stay, and where they go.
struct Kept {
  std::int64_t first = 0, count = 0;  // of the operand
  std::int64_t place = 0, step = 0;   // in the result
};

Kept kept_elements(std::int64_t size, std::int64_t low, std::int64_t interior,
                   std::int64_t result_size) {
  // Interior padding lies between elements only, so one element alone has none.
  Int128 step = size > 1 ? Int128{interior} + 1 : 1;
  Int128 first = low >= 0 ? 0 : (-Int128{low} + step - 1) / step;
  Int128 room = Int128{result_size} - 1 - low;
  Int128 end = room < 0 ? 0 : std::min<Int128>(room / step + 1, size);
  if (first >= end) return {};
  Kept kept;
  kept.first = static_cast<std::int64_t>(first);
  kept.count = static_cast<std::int64_t>(end - first);
  kept.place = static_cast<std::int64_t>(low + first * step);
  kept.step = kept.count > 1 ? static_cast<std::int64_t>(step) : 0;
  return kept;
}

Array padded(const Array& operand, const Array& value, const Padding& padding, const Type& type) {
  Array result = Array::splat(type, value.element(0));
  Index from = row_major_strides(operand.shape());
  Index to = row_major_strides(type.shape);
  ElementPlaces source{0, from}, target{0, to};
  Shape box;
  for (std::size_t d = 0; d < from.size(); ++d) {
    Kept kept =
        kept_elements(operand.shape()[d], padding.low[d], padding.interior[d], type.shape[d]);
    if (kept.count == 0) return result;
    box.push_back(kept.count);
    source.base += kept.first * from[d];
    target.base += kept.place * to[d];
    target.steps[d] = kept.step * to[d];
  }
  copy_box(box, byte_size(type.dtype), operand.bytes(), source, result.mutable_bytes(), target);
  return result;
}

Array sliced(const Array& operand, const SliceBounds& bounds, const Type& type) {
  if (type.elements() == 0) return Array(type);
  ElementPlaces places{0, row_major_strides(operand.shape())};
  for (std::size_t d = 0; d < type.rank(); ++d) {
    places.base += bounds.start[d] * places.steps[d];
    // A stride that is never taken may be too large to multiply.
    places.steps[d] *= type.shape[d] > 1 ? bounds.strides[d] : 1;
  }
  return pick_elements(operand, type, places);
}

}  // namespace

Expected<Shape> padded_shape(const Op& op, const Shape& operand, const Padding& padding) {
  HEDDLE_TRY_VOID(check_count(op, "C2", "edge_padding_low", padding.low.size(), operand.size()));
  HEDDLE_TRY_VOID(check_count(op, "C2", "edge_padding_high", padding.high.size(), operand.size()));
  HEDDLE_TRY_VOID(
      check_count(op, "C2", "interior_padding", padding.interior.size(), operand.size()));
  Shape shape;
  for (std::size_t d = 0; d < operand.size(); ++d) {
    if (padding.interior[d] < 0)
      return broken(op, "C3", "interior padding {} of dimension {} is negative",
                    padding.interior[d], d);
    const Int128 size = padded_size(operand[d], padding, d);
    if (size < 0 || size > std::numeric_limits<std::int64_t>::max())
      return broken(
          op, "C4",
          "dimension {} of size {}, padded by {} low, {} high and {} between, has no size "
          "that can be counted",
          d, operand[d], padding.low[d], padding.high[d], padding.interior[d]);
    shape.push_back(static_cast<std::int64_t>(size));
  }
  return shape;
}

Expected<Shape> sliced_shape(const Op& op, const Shape& operand, const SliceBounds& bounds) {
  HEDDLE_TRY_VOID(check_count(op, "C2", "start_indices", bounds.start.size(), operand.size()));
  HEDDLE_TRY_VOID(check_count(op, "C2", "limit_indices", bounds.limit.size(), operand.size()));
  HEDDLE_TRY_VOID(check_count(op, "C2", "strides", bounds.strides.size(), operand.size()));
  Shape shape;
  for (std::size_t d = 0; d < operand.size(); ++d) {
    std::int64_t start = bounds.start[d], limit = bounds.limit[d], stride = bounds.strides[d];
    if (start < 0 || start > limit || limit > operand[d])
      return broken(op, "C3", "[{}:{}] does not lie within dimension {} of size {}", start, limit,
                    d, operand[d]);
    if (stride <= 0)
      return broken(op, "C4", "stride {} of dimension {} is not positive", stride, d);
    shape.push_back(start == limit ? 0 : (limit - start - 1) / stride + 1);
  }
  return shape;
}

Evaluated eval_pad(EvalContext& ctx) {
  Padding padding;
  HEDDLE_TRY(padding.low, integers(ctx.attr("edge_padding_low")));
  HEDDLE_TRY(padding.high, integers(ctx.attr("edge_padding_high")));
  HEDDLE_TRY(padding.interior, integers(ctx.attr("interior_padding")));
  return std::vector<Array>{padded(ctx.operands[0], ctx.operands[1], padding, ctx.result_type())};
}

Evaluated eval_dynamic_pad(EvalContext& ctx) {
  Padding padding;
  HEDDLE_TRY(padding.low, integer_values(ctx.operands[2]));
  HEDDLE_TRY(padding.high, integer_values(ctx.operands[3]));
  HEDDLE_TRY(padding.interior, integer_values(ctx.operands[4]));
  HEDDLE_TRY(Shape shape, padded_shape(ctx.op, ctx.operands[0].shape(), padding));
  HEDDLE_TRY_VOID(check_shape(ctx.op, "C4", shape, ctx.result_type()));
  return std::vector<Array>{padded(ctx.operands[0], ctx.operands[1], padding, ctx.result_type())};
}

Evaluated eval_slice(EvalContext& ctx) {
  SliceBounds bounds;
  HEDDLE_TRY(bounds.start, integers(ctx.attr("start_indices")));
  HEDDLE_TRY(bounds.limit, integers(ctx.attr("limit_indices")));
  HEDDLE_TRY(bounds.strides, integers(ctx.attr("strides"), Index(bounds.start.size(), 1)));
  return std::vector<Array>{sliced(ctx.operands[0], bounds, ctx.result_type())};
}

Evaluated eval_real_dynamic_slice(EvalContext& ctx) {
  SliceBounds bounds;
  HEDDLE_TRY(bounds.start, integer_values(ctx.operands[1]));
  HEDDLE_TRY(bounds.limit, integer_values(ctx.operands[2]));
  HEDDLE_TRY(bounds.strides, integer_values(ctx.operands[3]));
  HEDDLE_TRY(Shape shape, sliced_shape(ctx.op, ctx.operands[0].shape(), bounds));
  HEDDLE_TRY_VOID(check_shape(ctx.op, "C5", shape, ctx.result_type()));
  return std::vector<Array>{sliced(ctx.operands[0], bounds, ctx.result_type())};
}

}  // namespace heddle
