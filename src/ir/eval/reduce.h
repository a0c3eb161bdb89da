// Type rules and evaluations of reductions, windows, products and convolutions.
#pragma once

#include "heddle/op.h"

namespace heddle {

Expected<ResultTypes> reduce_rule(const Program& program, const Op& op);
Expected<ResultTypes> reduce_window_rule(const Program& program, const Op& op);
Expected<ResultTypes> select_and_scatter_rule(const Program& program, const Op& op);
Expected<ResultTypes> map_rule(const Program& program, const Op& op);
Expected<ResultTypes> dot_general_rule(const Program& program, const Op& op);
Expected<ResultTypes> product_then_rule(const Program& program, const Op& op);
Expected<ResultTypes> dot_rule(const Program& program, const Op& op);
Expected<ResultTypes> einsum_rule(const Program& program, const Op& op);  // unary_einsum too
Expected<ResultTypes> convolution_rule(const Program& program, const Op& op);
Verdict dynamic_conv_rule(const Program& program, const Op& op);

Expected<std::vector<Array>> evaluate_reduce(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_reduce_window(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_select_and_scatter(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_map(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_dot_general(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_product_then(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_dot(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_einsum(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_convolution(EvalContext& ctx);  // dynamic_conv too

}  // namespace heddle
