// Ops of ours that stand for custom calls and composites of JAX.
#pragma once

#include "ir/rewrite.h"

namespace heddle::frontend {

// What a custom call names; empty for other ops.
std::string_view target_of(const Program& program, const Op& op);

// @lapack_sgetrf_ffi, @Qr, @ProductOfElementaryHouseholderReflectors,
// @tridiagonal_solve_perturbed_ffi
bool is_lapack_call(const Program& program, const Op& op);
// Writes heddle.lapack in its place. A reason where the matrices do not lie as LAPACK has them.
Expected<bool> lapack_routine(Rewriter& r, const Op& op);

// @cpu_csr_sparse_dense_ffi, of jax.experimental.sparse, is heddle.csr_product.
bool is_sparse_product(const Program& program, const Op& op);
Expected<bool> sparse_product(Rewriter& r, const Op& op);

// @dce_sink keeps a value from being left out, and does nothing with it.
bool is_sink(const Program& program, const Op& op);

// @InspectSharding, of jax.debug.inspect_array_sharding, asks XLA's partitioner where a value lies.
// Nobody answers here: the value goes on, with a warning.
bool is_sharding_question(const Program& program, const Op& op);
bool pass_value_on(Rewriter& r, const Op& op);

// A composite such as "chlo.top_k" that one op computes; others call their decomposition.
bool is_client_composite(const Program& program, const Op& op);
Expected<bool> client_op(Rewriter& r, const Op& op);

}  // namespace heddle::frontend
