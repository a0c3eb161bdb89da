// Type rules and evaluations of reductions, windows, products and convolutions.
#pragma once

#include "heddle/op.h"

namespace heddle {

Verdict reduce_rule(const Program& program, const Op& op);
Verdict reduce_window_rule(const Program& program, const Op& op);
Verdict select_and_scatter_rule(const Program& program, const Op& op);
Verdict map_rule(const Program& program, const Op& op);
Verdict dot_general_rule(const Program& program, const Op& op);
Verdict dot_rule(const Program& program, const Op& op);
Verdict einsum_rule(const Program& program, const Op& op);  // unary_einsum too
Verdict convolution_rule(const Program& program, const Op& op);
Verdict dynamic_conv_rule(const Program& program, const Op& op);

Expected<std::vector<Array>> evaluate_reduce(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_reduce_window(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_select_and_scatter(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_map(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_dot_general(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_dot(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_einsum(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_convolution(EvalContext& ctx);  // dynamic_conv too

}  // namespace heddle
