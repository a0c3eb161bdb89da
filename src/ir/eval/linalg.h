// Type rules and evaluations of transforms, solvers, normalisation and random numbers.
#pragma once

#include "heddle/op.h"

namespace heddle {

Expected<ResultTypes> fft_rule(const Program& program, const Op& op);
Expected<ResultTypes> triangular_solve_rule(const Program& program, const Op& op);
Expected<ResultTypes> cholesky_rule(const Program& program, const Op& op);
Verdict lapack_rule(const Program& program, const Op& op);
Verdict csr_product_rule(const Program& program, const Op& op);
Expected<ResultTypes> batch_norm_inference_rule(const Program& program, const Op& op);
Expected<ResultTypes> batch_norm_training_rule(const Program& program, const Op& op);
Expected<ResultTypes> batch_norm_grad_rule(const Program& program, const Op& op);
Verdict rng_rule(const Program& program, const Op& op);
Verdict rng_bit_generator_rule(const Program& program, const Op& op);

Expected<std::vector<Array>> evaluate_fft(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_triangular_solve(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_cholesky(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_lapack(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_csr_product(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_batch_norm_inference(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_batch_norm_training(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_batch_norm_grad(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_rng(EvalContext& ctx);
Expected<std::vector<Array>> evaluate_rng_bit_generator(EvalContext& ctx);

}  // namespace heddle
