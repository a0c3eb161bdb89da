// heddle.product_then: a product, plus a row, plus a matrix, and a function of that; each step is
// rounded, as if it were an op by itself.
#include "ir/product_then.h"

#include <cmath>
#include <numbers>

#include "ir/eval/reduce.h"
#include "ir/eval/reduce_common.h"

namespace heddle {

using namespace reduction;

namespace {

double gelu(double x) {
  const double scale = std::sqrt(2 / std::numbers::pi);
  return 0.5 * x * (1 + std::tanh(scale * (x + 0.044715 * x * x * x)));
}

double gelu_slope(double x) {
  const double scale = std::sqrt(2 / std::numbers::pi);
  const double t = std::tanh(scale * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * scale * (1 + 3 * 0.044715 * x * x);
}

double relu(double x) { return std::isnan(x) || x > 0 ? x : 0; }

double applied(ProductThen::Function function, double x) {
  switch (function) {
    case ProductThen::Function::relu:
      return relu(x);
    case ProductThen::Function::gelu:
      return gelu(x);
    case ProductThen::Function::gelu_gradient:  // needs another matrix
    case ProductThen::Function::none:
      break;
  }
  return x;
}

}  // namespace

Expected<ResultTypes> product_then_rule(const Program& program, const Op& op) {
  const OpAttrs attrs{program, op};
  HEDDLE_TRY_VOID(attrs.word_or("function", "", {"", "relu", "gelu", "gelu_gradient"}));
  HEDDLE_TRY(const ResultTypes product, dot_general_rule(program, op));
  const Type& type = product[0].type;
  if (!is_float(type.dtype))
    return broken(op, "", "the product is {}: expected floating-point numbers", type.str());
  const ProductThen then = product_then(program, op);
  const std::size_t operands = at_operand(then) + (is_gradient(then) ? 1 : 0);
  if (program.operands(op).size() != operands)
    return broken(op, "", "{} operands: expected {}, by its flags", program.operands(op).size(),
                  operands);
  if (then.bias) {
    const Type& bias = operand_type(program, op, bias_operand());
    if (type.rank() == 0 || bias.dtype != type.dtype || bias.elements() != type.shape.back())
      return broken(op, "", "the bias is {}: expected as many elements as a row of {} has",
                    bias.str(), type.str());
  }
  if (then.addend && operand_type(program, op, addend_operand(then)) != type)
    return broken(op, "", "the addend is {}: expected {}",
                  operand_type(program, op, addend_operand(then)).str(), type.str());
  if (is_gradient(then) && operand_type(program, op, at_operand(then)) != type)
    return broken(op, "", "the gradient is at {}: expected {}",
                  operand_type(program, op, at_operand(then)).str(), type.str());
  ResultTypes results = product;
  if (then.keeps) results.add(product);
  return results;
}

Expected<std::vector<Array>> evaluate_product_then(EvalContext& ctx) {
  HEDDLE_TRY(std::vector<Array> results, evaluate_dot_general(ctx));
  const ProductThen then = product_then(ctx.program, ctx.op);
  dispatch(ctx.result_type().dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (FloatScalar<T>) {
      const auto sum = [](T a, T b) {
        return convert_scalar<T>(convert_scalar<double>(a) + convert_scalar<double>(b));
      };
      auto values = results[0].template as_mutable<T>();
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (then.bias) {
          const auto bias = ctx.operands[bias_operand()].template as<T>();
          values[i] = sum(values[i], bias[i % bias.size()]);
        }
        if (then.addend)
          values[i] = sum(values[i], ctx.operands[addend_operand(then)].template as<T>()[i]);
      }
      if (then.keeps) results.push_back(results[0]);
      values = results[0].template as_mutable<T>();  // what is kept stays
      for (T& x : values) x = convert_scalar<T>(applied(then.function, convert_scalar<double>(x)));
      if (!is_gradient(then)) return;
      const auto at = ctx.operands[at_operand(then)].template as<T>();
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = convert_scalar<T>(convert_scalar<double>(values[i]) *
                                      gelu_slope(convert_scalar<double>(at[i])));
    }
  });
  return results;
}

}  // namespace heddle
