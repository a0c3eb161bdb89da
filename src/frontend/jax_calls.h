// Custom calls that JAX writes and that mean something here: what stands for them in core ops.
#pragma once

#include "heddle/stablehlo.h"

namespace heddle::frontend {

// The program as it is, unless it has such calls:
// - ApproxTopK, of lax.approx_max_k, is a sort and its first elements: exact.
// - Callbacks into Python without results, of jax.debug.print, are left out, with a warning. The
//   tokens that keep them in order are no arguments or results of public functions any more. Who
//   can call Python keeps them (ReadOptions).
// - lapack_*_ffi, Qr and ProductOfElementaryHouseholderReflectors are heddle.lapack.
// - InspectSharding, of jax.debug.inspect_array_sharding, is left out, with a warning.
// - Composites that stand for an op of the client dialect, such as "chlo.erf", are that op.
Expected<Program> without_jax_calls(Program program, const ReadOptions& options);

}  // namespace heddle::frontend
