#include "ir/eval/reduce_window.h"

#include "ir/eval/plain_reducer.h"
#include "ir/eval/reduce.h"

namespace heddle {

namespace reduction {

namespace {

// Elements from the first to the last when there are dilation - 1 holes between neighbours.
bool dilated(std::int64_t n, std::int64_t dilation, std::int64_t& extent) {
  if (n == 0) {
    extent = 0;
    return true;
  }
  return !__builtin_mul_overflow(n - 1, dilation, &extent) &&
         !__builtin_add_overflow(extent, 1, &extent);
}

}  // namespace

std::optional<std::int64_t> WindowAxis::places() const {
  std::int64_t base = 0, extent = 0, padded = 0, upper = 0;
  if (!dilated(input, base_dilation, base) || !dilated(window, window_dilation, extent) ||
      __builtin_add_overflow(base, pad_high, &upper) ||
      __builtin_add_overflow(upper, pad_low, &padded))
    return std::nullopt;
  if (padded == 0 || extent > padded) return 0;
  return (padded - extent) / stride + 1;
}

std::int64_t WindowAxis::source(std::int64_t place, std::int64_t k) const {
  const std::int64_t at = place * stride + k * window_dilation - pad_low;
  if (at < 0 || at % base_dilation != 0) return -1;
  return at / base_dilation < input ? at / base_dilation : -1;
}

Verdict per_dimension_positive(const Op& op, std::string_view size_label,
                               std::string_view positive_label, std::string_view what,
                               const Integers& values, std::size_t count) {
  if (values.size() != count)
    return broken(op, size_label, "{} = {} has {} numbers, expected {}", what, list_text(values),
                  values.size(), count);
  for (std::int64_t value : values)
    if (value <= 0)
      return broken(op, positive_label, "{} = {} has {}, expected positive numbers", what,
                    list_text(values), value);
  return yes();
}

Expected<std::vector<WindowAxis>> read_window(const Program& program, const Op& op,
                                              const Shape& input, const WindowLabels& labels) {
  const OpAttrs attrs{program, op};
  const std::size_t n = input.size();
  HEDDLE_TRY(auto sizes, attrs.integers("window_dimensions"));
  HEDDLE_TRY(auto strides, attrs.integers_or("window_strides", Integers(n, 1)));
  HEDDLE_TRY(auto base, attrs.integers_or("base_dilations", Integers(n, 1)));
  HEDDLE_TRY(auto dilations, attrs.integers_or("window_dilations", Integers(n, 1)));
  HEDDLE_TRY_VOID(per_dimension_positive(op, labels.window_size, labels.window_positive,
                                         "window_dimensions", sizes, n));
  HEDDLE_TRY_VOID(per_dimension_positive(op, labels.stride_size, labels.stride_positive,
                                         "window_strides", strides, n));
  HEDDLE_TRY_VOID(per_dimension_positive(op, labels.base_size, labels.base_positive,
                                         "base_dilations", base, n));
  HEDDLE_TRY_VOID(per_dimension_positive(op, labels.dilation_size, labels.dilation_positive,
                                         "window_dilations", dilations, n));
  HEDDLE_TRY(auto padding, attrs.padding("padding", n));
  if (padding.size() != n)
    return broken(op, labels.padding, "padding has {} pairs, expected {}", padding.size(), n);
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < n; ++i)
    axes.push_back(
        {input[i], sizes[i], strides[i], padding[i][0], padding[i][1], base[i], dilations[i]});
  return axes;
}

Expected<Shape> window_places(const Op& op, std::string_view label,
                              const std::vector<WindowAxis>& axes) {
  Shape shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto places = axes[i].places();
    if (!places)
      return broken(op, label, "the padded size of window dimension {} does not fit 64 bits", i);
    shape.push_back(*places);
  }
  return shape;
}

std::int64_t window_source(const std::vector<WindowAxis>& axes, const Integers& strides,
                           const Integers& place, const Integers& inside) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t at = axes[i].source(place[i], inside[i]);
    if (at < 0) return -1;
    flat += at * strides[i];
  }
  return flat;
}

Integers position(const Shape& shape, std::int64_t flat) {
  Integers at(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    at[i] = flat % shape[i];
    flat /= shape[i];
  }
  return at;
}

}  // namespace reduction

using namespace reduction;

namespace {

constexpr WindowLabels kReduceLabels{"C4", "C5", "C6", "C7", "C8", "C9", "C10", "C11", "C12"};
constexpr WindowLabels kScatterLabels{"C4", "C5", "C6", "C7", "", "", "", "", "C8"};

Shape window_shape(const std::vector<WindowAxis>& axes) {
  Shape shape;
  for (const WindowAxis& axis : axes) shape.push_back(axis.window);
  return shape;
}

// A product that does not overflow.
double steps(const Shape& places, const Shape& window) {
  double n = 1;
  for (std::int64_t s : places) n *= static_cast<double>(s);
  for (std::int64_t s : window) n *= static_cast<double>(s);
  return n;
}

Verdict few_enough_steps(const Op& op, const Shape& places, const Shape& window) {
  if (steps(places, window) <= kMostRegionRuns) return yes();
  return reason("{} a window of {} at each of {} places is too much for the reference interpreter",
                bracketed(op), list_text(window), list_text(places));
}

}  // namespace

std::vector<WindowAxis> reduction::window_of(const Program& program, const Op& op) {
  return read_window(program, op, operand_type(program, op, 0).shape, kReduceLabels).value();
}

Expected<ResultTypes> reduce_window_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  HEDDLE_TRY_VOID(inputs_and_inits(program, op, {"C1", "C2", "C3"}));
  const Type& first = operand_type(program, op, 0);
  HEDDLE_TRY(auto axes, read_window(program, op, first.shape, kReduceLabels));
  HEDDLE_TRY(auto dtypes, reducer_types(program, op, op.operand_count / 2, "C13"));
  HEDDLE_TRY(auto places, window_places(op, "C15", axes));
  ResultTypes types;
  for (DType dtype : dtypes)
    types.add(typed(Type::tensor(dtype, places), "C16", types.size() == 0 ? "C15" : "C14"));
  return types;
}

Expected<std::vector<Array>> evaluate_reduce_window(EvalContext& ctx) {
  const std::size_t n = ctx.op.result_count;
  const Shape& shape = ctx.operands[0].shape();
  HEDDLE_TRY(auto axes, read_window(ctx.program, ctx.op, shape, kReduceLabels));
  const Shape window = window_shape(axes);
  const Shape& places = ctx.result_type().shape;
  HEDDLE_TRY_VOID(few_enough_steps(ctx.op, places, window));
  const Integers strides = strides_of(shape);
  const std::int64_t inside = Type::tensor(DType::i1, window).elements();
  auto [inputs, inits, results] = reduce_values(ctx);
  const auto plain = PlainReducer::of(ctx.program, ctx.region(0));
  for (std::int64_t at = 0; at < results[0].elements(); ++at) {
    const Integers place = position(places, at);
    if (plain) {
      const std::uint64_t init = bits_at(inits[0], 0);
      std::uint64_t accumulator = init;
      for (std::int64_t k = 0; k < inside; ++k) {
        const std::int64_t from = window_source(axes, strides, place, position(window, k));
        accumulator = (*plain)(accumulator, from < 0 ? init : bits_at(inputs[0], from));
      }
      put_bits(results[0], at, accumulator);
      continue;
    }
    std::vector<Array> accumulators = inits;
    for (std::int64_t k = 0; k < inside; ++k) {
      const std::int64_t from = window_source(axes, strides, place, position(window, k));
      std::vector<Array> elements;
      // Padding and holes hold the initial value, and the body sees it there.
      for (std::size_t i = 0; i < n; ++i)
        elements.push_back(from < 0 ? inits[i] : element_array(inputs[i], from));
      HEDDLE_TRY_VOID(run_reducer(ctx, ctx.region(0), accumulators, std::move(elements)));
    }
    for (std::size_t i = 0; i < n; ++i) put_element(results[i], at, accumulators[i]);
  }
  return results;
}

Expected<ResultTypes> select_and_scatter_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  const Type& operand = operand_type(program, op, 0);
  const Type& source = operand_type(program, op, 1);
  const Type& init = operand_type(program, op, 2);
  if (source.dtype != operand.dtype)
    return broken(op, "C1", "the source is {} and the operand {}: their element types differ",
                  source.str(), operand.str());
  if (init != Type::tensor(operand.dtype, {}))
    return broken(op, "C3", "the initial value is {}, expected {}", init.str(),
                  Type::tensor(operand.dtype, {}).str());
  HEDDLE_TRY(auto axes, read_window(program, op, operand.shape, kScatterLabels));
  HEDDLE_TRY(auto places, window_places(op, "C2", axes));
  if (source.shape != places)
    return broken(op, "C2", "the source is {}, expected the shape {}", source.str(),
                  list_text(places));
  const Type element = Type::tensor(operand.dtype, {});
  HEDDLE_TRY_VOID(
      region_types(program, op, 0, "C9", {element, element}, {Type::tensor(DType::i1, {})}));
  HEDDLE_TRY(auto dtypes, region_dtypes(program, op, 1, "C10"));
  const DType wide = dtypes.empty() ? operand.dtype : dtypes[0];
  if (!promotable(operand.dtype, wide))
    return broken(op, "C10", "{} cannot be promoted to the {} that scatter returns", operand.str(),
                  name(wide));
  const Type scalar = Type::tensor(wide, {});
  HEDDLE_TRY_VOID(region_types(program, op, 1, "C10", {scalar, scalar}, {scalar}));
  return typed(Type::tensor(wide, operand.shape), "C12", "C11");
}

namespace {

// The flat index of the element that `select` keeps among those under a window; -1 for none.
Expected<std::int64_t> selected(EvalContext& ctx, const std::vector<WindowAxis>& axes,
                                const Integers& place) {
  const Array& operand = ctx.operands[0];
  const Shape window = window_shape(axes);
  const Integers strides = strides_of(operand.shape());
  std::int64_t best = -1;
  for (std::int64_t k = 0; k < Type::tensor(DType::i1, window).elements(); ++k) {
    const std::int64_t from = window_source(axes, strides, place, position(window, k));
    if (from < 0) continue;
    if (best < 0) {
      best = from;
      continue;
    }
    HEDDLE_TRY(auto keep, ctx.run_region(ctx.region(0), {element_array(operand, best),
                                                         element_array(operand, from)}));
    if (!to_bool(keep[0])) best = from;
  }
  return best;
}

}  // namespace

Expected<std::vector<Array>> evaluate_select_and_scatter(EvalContext& ctx) {
  const DType dtype = ctx.result_type().dtype;
  const Array source = converted(ctx.operands[1], dtype);
  const Array init = converted(ctx.operands[2], dtype);
  HEDDLE_TRY(auto axes, read_window(ctx.program, ctx.op, ctx.operands[0].shape(), kScatterLabels));
  HEDDLE_TRY_VOID(few_enough_steps(ctx.op, source.shape(), window_shape(axes)));
  Array result(ctx.result_type());
  for (std::int64_t at = 0; at < result.elements(); ++at) put_element(result, at, init);
  for (std::int64_t at = 0; at < source.elements(); ++at) {
    HEDDLE_TRY(std::int64_t to, selected(ctx, axes, position(source.shape(), at)));
    if (to < 0) continue;  // a window over nothing but padding
    std::vector<Array> accumulator{element_array(result, to)};
    HEDDLE_TRY_VOID(run_reducer(ctx, ctx.region(1), accumulator, {element_array(source, at)}));
    put_element(result, to, accumulator[0]);
  }
  return std::vector<Array>{std::move(result)};
}

}  // namespace heddle
