// convolution and dynamic_conv.
#include "ir/eval/conv.h"

#include "ir/eval/reduce.h"

namespace heddle {

using namespace reduction;

namespace {

std::int64_t at(const Shape& shape, std::int64_t d) { return shape[static_cast<std::size_t>(d)]; }

// The batch, the feature and the spatial dimensions together are each dimension once.
Verdict covers(const Op& op, std::string_view size_label, std::string_view label,
               std::string_view what, std::int64_t first, std::int64_t second,
               const Integers& spatial, std::size_t rank) {
  if (spatial.size() + 2 != rank)
    return broken(op, size_label, "{}_spatial_dimensions = {} has {} dimensions, expected {}", what,
                  list_text(spatial), spatial.size(), rank - 2);
  Integers all = spatial;
  all.push_back(first);
  all.push_back(second);
  const std::string list = fmt::format("the list of {} dimensions", what);
  HEDDLE_TRY_VOID(dimensions_in_range(op, label, list, all, rank));
  return dimensions_unique(op, label, list, all);
}

Expected<ConvDims> read_dims(const Program& program, const Op& op, std::size_t rank) {
  constexpr std::string_view kName = "dimension_numbers";
  const OpAttrs attrs{program, op};
  ConvDims d{};
  HEDDLE_TRY(d.input_batch, attrs.field_integer(kName, "input_batch_dimension", -1));
  HEDDLE_TRY(d.input_feature, attrs.field_integer(kName, "input_feature_dimension", -1));
  HEDDLE_TRY(d.input_spatial, attrs.field_integers(kName, "input_spatial_dimensions"));
  HEDDLE_TRY(d.kernel_input, attrs.field_integer(kName, "kernel_input_feature_dimension", -1));
  HEDDLE_TRY(d.kernel_output, attrs.field_integer(kName, "kernel_output_feature_dimension", -1));
  HEDDLE_TRY(d.kernel_spatial, attrs.field_integers(kName, "kernel_spatial_dimensions"));
  HEDDLE_TRY(d.output_batch, attrs.field_integer(kName, "output_batch_dimension", -1));
  HEDDLE_TRY(d.output_feature, attrs.field_integer(kName, "output_feature_dimension", -1));
  HEDDLE_TRY(d.output_spatial, attrs.field_integers(kName, "output_spatial_dimensions"));
  HEDDLE_TRY_VOID(
      covers(op, "C12", "C13", "input", d.input_batch, d.input_feature, d.input_spatial, rank));
  HEDDLE_TRY_VOID(
      covers(op, "C17", "C18", "kernel", d.kernel_input, d.kernel_output, d.kernel_spatial, rank));
  HEDDLE_TRY_VOID(
      covers(op, "C19", "C20", "output", d.output_batch, d.output_feature, d.output_spatial, rank));
  return d;
}

// Everything but the padding.
Expected<Conv> read_conv(const Program& program, const Op& op) {
  const OpAttrs attrs{program, op};
  const Type& lhs = operand_type(program, op, 0);
  const Type& rhs = operand_type(program, op, 1);
  if (lhs.rank() != rhs.rank() || lhs.rank() < 2)
    return broken(op, "C1", "the operands are {} and {}, expected one rank of at least 2",
                  lhs.str(), rhs.str());
  const std::size_t n = lhs.rank() - 2;
  HEDDLE_TRY(auto strides, attrs.integers_or("window_strides", Integers(n, 1)));
  HEDDLE_TRY(auto base, attrs.integers_or("lhs_dilation", Integers(n, 1)));
  HEDDLE_TRY(auto dilations, attrs.integers_or("rhs_dilation", Integers(n, 1)));
  HEDDLE_TRY_VOID(per_dimension_positive(op, "C2", "C3", "window_strides", strides, n));
  HEDDLE_TRY_VOID(per_dimension_positive(op, "C5", "C6", "lhs_dilation", base, n));
  HEDDLE_TRY_VOID(per_dimension_positive(op, "C7", "C8", "rhs_dilation", dilations, n));
  Conv conv;
  HEDDLE_TRY(conv.reversed, attrs.booleans_or("window_reversal", std::vector<bool>(n, false)));
  if (conv.reversed.size() != n)
    return broken(op, "C9", "window_reversal has {} entries, expected {}", conv.reversed.size(), n);
  HEDDLE_TRY(conv.dims, read_dims(program, op, lhs.rank()));
  HEDDLE_TRY(conv.feature_groups, attrs.integer_or("feature_group_count", 1));
  HEDDLE_TRY(conv.batch_groups, attrs.integer_or("batch_group_count", 1));
  for (std::size_t i = 0; i < n; ++i)
    conv.axes.push_back({at(lhs.shape, conv.dims.input_spatial[i]),
                         at(rhs.shape, conv.dims.kernel_spatial[i]), strides[i], 0, 0, base[i],
                         dilations[i]});
  return conv;
}

Verdict set_padding(const Op& op, Conv& conv, const std::vector<IntegerPair>& padding) {
  if (padding.size() != conv.axes.size())
    return broken(op, "C4", "padding has {} pairs, expected {}", padding.size(), conv.axes.size());
  for (std::size_t i = 0; i < padding.size(); ++i) {
    conv.axes[i].pad_low = padding[i][0];
    conv.axes[i].pad_high = padding[i][1];
  }
  return yes();
}

Verdict group_rule(const Program& program, const Op& op, const Conv& conv) {
  const Type& lhs = operand_type(program, op, 0);
  const Type& rhs = operand_type(program, op, 1);
  const std::int64_t features = conv.feature_groups, batches = conv.batch_groups;
  if (features <= 0) return broken(op, "C21", "feature_group_count is {}", features);
  if (batches <= 0) return broken(op, "C22", "batch_group_count is {}", batches);
  if (features != 1 && batches != 1)
    return broken(op, "C23", "feature_group_count is {} and batch_group_count {}: one must be 1",
                  features, batches);
  const std::int64_t in = at(lhs.shape, conv.dims.input_feature);
  const std::int64_t out = at(rhs.shape, conv.dims.kernel_output);
  if (at(lhs.shape, conv.dims.input_batch) % batches != 0)
    return broken(op, "C10", "the batch dimension of {} does not divide into {} groups", lhs.str(),
                  batches);
  if (in % features != 0)
    return broken(op, "C11", "the {} features of {} do not divide into {} groups", in, lhs.str(),
                  features);
  if (at(rhs.shape, conv.dims.kernel_input) != in / features)
    return broken(op, "C14", "the kernel {} takes {} features, expected {}", rhs.str(),
                  at(rhs.shape, conv.dims.kernel_input), in / features);
  if (out % batches != 0)
    return broken(op, "C15", "the {} output features of {} do not divide into {} batch groups", out,
                  rhs.str(), batches);
  if (out % features != 0)
    return broken(op, "C16", "the {} output features of {} do not divide into {} feature groups",
                  out, rhs.str(), features);
  return yes();
}

// The shape of the result; its spatial sizes follow from the padding.
Expected<Shape> result_shape(const Op& op, const Conv& conv, const Shape& lhs, const Shape& rhs) {
  HEDDLE_TRY(auto places, window_places(op, "C25", conv.axes));
  Shape shape(lhs.size());
  shape[static_cast<std::size_t>(conv.dims.output_batch)] =
      at(lhs, conv.dims.input_batch) / conv.batch_groups;
  shape[static_cast<std::size_t>(conv.dims.output_feature)] = at(rhs, conv.dims.kernel_output);
  for (std::size_t i = 0; i < places.size(); ++i)
    shape[static_cast<std::size_t>(conv.dims.output_spatial[i])] = places[i];
  return shape;
}

Verdict common_rule(const Program& program, const Op& op, const Conv& conv) {
  HEDDLE_TRY_VOID(group_rule(program, op, conv));
  HEDDLE_TRY_VOID(precision_size(program, op, "C24"));
  return product_types(program, op, "C27");
}

// One result element; positions are those of the result.
template <typename Wide>
class Convolver {
 public:
  Convolver(const Conv& conv, const Array& lhs, const Array& rhs)
      : conv_(conv),
        lhs_(widened<Wide>(lhs)),
        rhs_(widened<Wide>(rhs)),
        lhs_strides_(strides_of(lhs.shape())),
        rhs_strides_(strides_of(rhs.shape())),
        inputs_(at(rhs.shape(), conv.dims.kernel_input)),
        outputs_(at(rhs.shape(), conv.dims.kernel_output)),
        batch_(at(lhs.shape(), conv.dims.input_batch) / conv.batch_groups) {
    for (std::int64_t d : conv.dims.input_spatial) lhs_spatial_.push_back(at(lhs_strides_, d));
    for (const WindowAxis& axis : conv.axes) window_.push_back(axis.window);
    if (rhs.elements() == 0) return;  // nothing to add up, whatever the size of the window
    for (std::int64_t k = 0; k < Type::tensor(DType::i1, window_).elements(); ++k)
      inside_.push_back(position(window_, k));
  }

  Wide operator()(const Integers& result) const {
    const std::int64_t out = at(result, conv_.dims.output_feature);
    const std::int64_t feature_group = out / (outputs_ / conv_.feature_groups);
    const std::int64_t batch_group = out / (outputs_ / conv_.batch_groups);
    const std::int64_t batch = batch_group * batch_ + at(result, conv_.dims.output_batch);
    const std::int64_t lhs_base =
        batch * at(lhs_strides_, conv_.dims.input_batch) +
        feature_group * inputs_ * at(lhs_strides_, conv_.dims.input_feature);
    const std::int64_t rhs_base = out * at(rhs_strides_, conv_.dims.kernel_output);
    Integers place;
    for (std::int64_t d : conv_.dims.output_spatial) place.push_back(at(result, d));
    Wide sum{};
    for (const Integers& inside : inside_) {
      const std::int64_t from = window_source(conv_.axes, lhs_spatial_, place, inside);
      sum += features(from < 0 ? -1 : lhs_base + from, rhs_base + kernel_offset(inside));
    }
    return sum;
  }

 private:
  std::int64_t kernel_offset(const Integers& inside) const {
    std::int64_t flat = 0;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const std::int64_t k = conv_.reversed[i] ? window_[i] - 1 - inside[i] : inside[i];
      flat += k * at(rhs_strides_, conv_.dims.kernel_spatial[i]);
    }
    return flat;
  }

  // Padding counts as zeros, which an infinite weight turns into NaN.
  Wide features(std::int64_t lhs, std::int64_t rhs) const {
    const std::int64_t lhs_step = at(lhs_strides_, conv_.dims.input_feature);
    const std::int64_t rhs_step = at(rhs_strides_, conv_.dims.kernel_input);
    Wide sum{};
    for (std::int64_t i = 0; i < inputs_; ++i) {
      const Wide value = lhs < 0 ? Wide{} : lhs_[static_cast<std::size_t>(lhs + i * lhs_step)];
      sum = add_product(sum, value, rhs_[static_cast<std::size_t>(rhs + i * rhs_step)]);
    }
    return sum;
  }

  const Conv& conv_;
  std::vector<Wide> lhs_, rhs_;
  Integers lhs_strides_, rhs_strides_, lhs_spatial_;
  std::int64_t inputs_, outputs_, batch_;
  Shape window_;
  std::vector<Integers> inside_;
};

}  // namespace

Conv reduction::conv_of(const Program& program, const Op& op) {
  Conv conv = read_conv(program, op).value();
  if (op.operand_count == 2) {
    const auto padding = OpAttrs({program, op}).padding("padding", conv.axes.size()).value();
    set_padding(op, conv, padding).value();
  }
  return conv;
}

Expected<ResultTypes> convolution_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  HEDDLE_TRY(auto conv, read_conv(program, op));
  HEDDLE_TRY(auto padding, OpAttrs({program, op}).padding("padding", conv.axes.size()));
  HEDDLE_TRY_VOID(set_padding(op, conv, padding));
  HEDDLE_TRY_VOID(common_rule(program, op, conv));
  const Type& lhs = operand_type(program, op, 0);
  const Type& rhs = operand_type(program, op, 1);
  HEDDLE_TRY(auto shape, result_shape(op, conv, lhs.shape, rhs.shape));
  return typed(Type::tensor(product_dtype(program, op), std::move(shape)), "C27", "C25");
}

Verdict dynamic_conv_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  HEDDLE_TRY(auto conv, read_conv(program, op));
  const Type& padding = operand_type(program, op, 2);
  if (!is_integer(padding.dtype) ||
      padding.shape != Shape{static_cast<std::int64_t>(conv.axes.size()), 2})
    return broken(op, "C4", "the padding is {}, expected integers of the shape [{}, 2]",
                  padding.str(), conv.axes.size());
  const Type& result = result_type(program, op, 0);
  const std::size_t rank = operand_type(program, op, 0).rank();
  if (result.rank() != rank)
    return broken(op, "C26", "the result is {}, expected the rank {}", result.str(), rank);
  return common_rule(program, op, conv);
}

Expected<std::vector<Array>> evaluate_convolution(EvalContext& ctx) {
  HEDDLE_TRY(auto conv, read_conv(ctx.program, ctx.op));
  const Array &lhs = ctx.operands[0], &rhs = ctx.operands[1];
  const Type& type = ctx.result_type();
  std::vector<IntegerPair> padding;
  if (ctx.operands.size() == 3) {
    HEDDLE_TRY(auto values, integer_values(ctx.operands[2]));
    for (std::size_t i = 0; i + 1 < values.size(); i += 2)
      padding.push_back({values[i], values[i + 1]});
  } else {
    HEDDLE_TRY(padding, OpAttrs({ctx.program, ctx.op}).padding("padding", conv.axes.size()));
  }
  HEDDLE_TRY_VOID(set_padding(ctx.op, conv, padding));
  HEDDLE_TRY(auto expected, result_shape(ctx.op, conv, lhs.shape(), rhs.shape()));
  if (type.shape != expected)  // only the data of dynamic_conv can bring this about
    return broken(ctx.op, "C25", "this padding gives the shape {}, but the result is {}",
                  list_text(expected), type.str());
  const double steps = static_cast<double>(type.elements()) * static_cast<double>(rhs.elements());
  if (steps > kMostSteps)
    return reason("{} {} products are too much for the reference interpreter", bracketed(ctx.op),
                  steps);
  return dispatch_sum({lhs.dtype(), rhs.dtype(), type.dtype}, [&](auto tag) {
    using Wide = typename decltype(tag)::type;
    const Convolver<Wide> convolve(conv, lhs, rhs);
    std::vector<Wide> values;
    for (std::int64_t i = 0; i < type.elements(); ++i)
      values.push_back(convolve(position(type.shape, i)));
    return std::vector<Array>{narrowed<Wide>(type, values)};
  });
}

}  // namespace heddle
