// batch_norm_inference, batch_norm_training and batch_norm_grad, computed in double.
#include "ir/eval/linalg.h"
#include "ir/eval/reduce_common.h"

namespace heddle {

using namespace reduction;

namespace {

struct Norm {
  std::int64_t features = 0, inner = 1;  // inner: elements between two of one feature's neighbours
  double epsilon = 0;

  std::size_t feature(std::int64_t flat) const {
    return static_cast<std::size_t>(flat / inner % features);
  }
};

Norm read_norm(const EvalContext& ctx) {
  const Shape& shape = ctx.operands[0].shape();
  const auto axis = static_cast<std::size_t>(integer_or(ctx.attr("feature_index"), 0));
  Norm norm;
  norm.features = shape[axis];
  for (std::size_t i = axis + 1; i < shape.size(); ++i) norm.inner *= shape[i];
  // The text gives epsilon as an f32.
  norm.epsilon = static_cast<double>(static_cast<float>(number_or(ctx.attr("epsilon"), 0)));
  return norm;
}

std::vector<double> sums(const Norm& norm, const std::vector<double>& values) {
  std::vector<double> totals(static_cast<std::size_t>(norm.features));
  for (std::size_t i = 0; i < values.size(); ++i)
    totals[norm.feature(static_cast<std::int64_t>(i))] += values[i];
  return totals;
}

std::vector<double> normalised(const Norm& norm, const std::vector<double>& x,
                               const std::vector<double>& scale, const std::vector<double>& offset,
                               const std::vector<double>& mean,
                               const std::vector<double>& variance) {
  std::vector<double> result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t f = norm.feature(static_cast<std::int64_t>(i));
    const double unit = (x[i] - mean[f]) / std::sqrt(variance[f] + norm.epsilon);
    result.push_back(unit * scale[f] + offset[f]);
  }
  return result;
}

// An operand with one element per feature.
struct FeatureOperand {
  std::size_t operand;
  std::string_view name, label;
};

// The operand is any float tensor; the others have one element per feature, and this type.
Expected<Type> feature_type(const Program& program, const Op& op,
                            const std::vector<FeatureOperand>& others) {
  HEDDLE_TRY_VOID(tensors_only(program, op));
  const OpAttrs attrs{program, op};
  const Type& operand = operand_type(program, op, 0);
  if (!is_float(operand.dtype))
    return broken(op, "I1", "the operand is {}, expected floating-point elements", operand.str());
  HEDDLE_TRY(std::int64_t axis, attrs.integer("feature_index"));
  HEDDLE_TRY_VOID(dimensions_in_range(op, "C1", "feature_index", Integers{axis}, operand.rank()));
  if (auto epsilon = number(attrs.find("epsilon"), 0.0); !epsilon)
    return reason("{} attribute epsilon: {}", bracketed(op), epsilon.reason());
  const Type vector = Type::tensor(operand.dtype, {operand.shape[static_cast<std::size_t>(axis)]});
  for (const FeatureOperand& other : others)
    if (const Type& type = operand_type(program, op, other.operand); type != vector)
      return broken(op, type.dtype != vector.dtype ? "C2" : other.label, "{} is {}, expected {}",
                    other.name, type.str(), vector.str());
  return vector;
}

}  // namespace

Expected<ResultTypes> batch_norm_inference_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(feature_type(
      program, op,
      {{1, "scale", "C3"}, {2, "offset", "C4"}, {3, "mean", "C5"}, {4, "variance", "C6"}}));
  return like_operand(program, op, 0, "C7");
}

Expected<ResultTypes> batch_norm_training_rule(const Program& program, const Op& op) {
  HEDDLE_TRY(Type vector, feature_type(program, op, {{1, "scale", "C3"}, {2, "offset", "C4"}}));
  ResultTypes types = like_operand(program, op, 0, "C7");
  types.add(typed(vector, "C2", "C5"));
  types.add(typed(vector, "C2", "C6"));
  return types;
}

Expected<ResultTypes> batch_norm_grad_rule(const Program& program, const Op& op) {
  HEDDLE_TRY(
      Type vector,
      feature_type(program, op, {{1, "scale", "C5"}, {2, "mean", "C5"}, {3, "variance", "C5"}}));
  const Type &operand = operand_type(program, op, 0), &grad = operand_type(program, op, 4);
  if (grad != operand)
    return broken(op, "C3", "grad_output is {}, expected {}", grad.str(), operand.str());
  ResultTypes types = like_operand(program, op, 0, "C3");
  types.add(typed(vector, "C2", "C5"));
  types.add(typed(vector, "C2", "C5"));
  return types;
}

Expected<std::vector<Array>> evaluate_batch_norm_inference(EvalContext& ctx) {
  std::vector<std::vector<double>> in;
  for (const Array& operand : ctx.operands) in.push_back(widened<double>(operand));
  const auto result = normalised(read_norm(ctx), in[0], in[1], in[2], in[3], in[4]);
  return std::vector<Array>{narrowed<double>(ctx.result_type(), result)};
}

Expected<std::vector<Array>> evaluate_batch_norm_training(EvalContext& ctx) {
  const Norm norm = read_norm(ctx);
  const auto x = widened<double>(ctx.operands[0]);
  const double each = static_cast<double>(x.size()) / static_cast<double>(norm.features);
  std::vector<double> mean = sums(norm, x);
  for (double& m : mean) m /= each;
  std::vector<double> squares;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = x[i] - mean[norm.feature(static_cast<std::int64_t>(i))];
    squares.push_back(off * off);
  }
  std::vector<double> variance = sums(norm, squares);
  for (double& v : variance) v /= each;
  const auto output = normalised(norm, x, widened<double>(ctx.operands[1]),
                                 widened<double>(ctx.operands[2]), mean, variance);
  return std::vector<Array>{narrowed<double>(ctx.result_type(0), output),
                            narrowed<double>(ctx.result_type(1), mean),
                            narrowed<double>(ctx.result_type(2), variance)};
}

Expected<std::vector<Array>> evaluate_batch_norm_grad(EvalContext& ctx) {
  const Norm norm = read_norm(ctx);
  const auto x = widened<double>(ctx.operands[0]), scale = widened<double>(ctx.operands[1]);
  const auto mean = widened<double>(ctx.operands[2]), variance = widened<double>(ctx.operands[3]);
  const auto gradient = widened<double>(ctx.operands[4]);
  const double each = static_cast<double>(x.size()) / static_cast<double>(norm.features);
  std::vector<double> by_offset, by_unit;  // the gradient times how far x is off the mean
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t f = norm.feature(static_cast<std::int64_t>(i));
    by_offset.push_back(gradient[i] * (x[i] - mean[f]));
    by_unit.push_back(gradient[i] * ((x[i] - mean[f]) / std::sqrt(variance[f] + norm.epsilon)));
  }
  const auto total = sums(norm, gradient), total_by_offset = sums(norm, by_offset);
  std::vector<double> grad_operand;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t f = norm.feature(static_cast<std::int64_t>(i));
    const double spread = variance[f] + norm.epsilon;
    const double inner =
        gradient[i] * each - total[f] - total_by_offset[f] * (x[i] - mean[f]) / spread;
    grad_operand.push_back(scale[f] / std::sqrt(spread) / each * inner);
  }
  return std::vector<Array>{narrowed<double>(ctx.result_type(0), grad_operand),
                            narrowed<double>(ctx.result_type(1), sums(norm, by_unit)),
                            narrowed<double>(ctx.result_type(2), total)};
}

}  // namespace heddle
