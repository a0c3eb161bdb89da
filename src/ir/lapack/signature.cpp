#include <algorithm>

#include "ir/lapack/call.h"

namespace heddle::lapack {

namespace {

constexpr Signature kSignatures[] = {
    {.routine = Routine::potrf,
     .name = "potrf",
     .complex_name = "potrf",
     .operands = "A[nn]",
     .results = "A[nn] I[]",
     .options = "uplo:LU"},
    {.routine = Routine::getrf,
     .name = "getrf",
     .complex_name = "getrf",
     .operands = "A[mn]",
     .results = "A[mn] I[k] I[]"},
    {.routine = Routine::geqrf,
     .name = "geqrf",
     .complex_name = "geqrf",
     .operands = "A[mn]",
     .results = "A[mn] A[k]"},
    {.routine = Routine::orgqr,
     .name = "orgqr",
     .complex_name = "ungqr",
     .operands = "A[mn] A[t]",
     .results = "A[mn]"},
    {.routine = Routine::ormqr,
     .name = "ormqr",
     .complex_name = "unmqr",
     .operands = "A[pq] A[t] A[mn]",
     .results = "A[mn]",
     .truths = "left transpose"},
    {.routine = Routine::geqp3,
     .name = "geqp3",
     .complex_name = "geqp3",
     .operands = "A[mn] I[n]",
     .results = "A[mn] I[n] A[k]"},
    {.routine = Routine::gehrd,
     .name = "gehrd",
     .complex_name = "gehrd",
     .operands = "A[nn]",
     .results = "A[nn] A[h] I[]",
     .numbers = "low high"},
    {.routine = Routine::sytrd,
     .name = "sytrd",
     .complex_name = "hetrd",
     .operands = "A[nn]",
     .results = "A[nn] R[n] R[h] A[h] I[]",
     .options = "uplo:LU"},
    {.routine = Routine::syevd,
     .name = "syevd",
     .complex_name = "heevd",
     .operands = "A[nn]",
     .results = "A[nn] R[n] I[]",
     .options = "mode:NV uplo:LU"},
    {.routine = Routine::geev,
     .name = "geev",
     .complex_name = "geev",
     .operands = "A[nn]",
     .results = "R[n] R[n] C[nn] C[nn] I[]",
     .complex_results = "C[n] C[nn] C[nn] I[]",
     .options = "compute_left:NV compute_right:NV"},
    {.routine = Routine::gees,
     .name = "gees",
     .complex_name = "gees",
     .operands = "A[nn]",
     .results = "A[nn] A[nn] R[n] R[n] I[] I[]",
     .complex_results = "A[nn] A[nn] C[n] I[] I[]",
     .options = "mode:NV sort:N"},
    {.routine = Routine::gesdd,
     .name = "gesdd",
     .complex_name = "gesdd",
     .operands = "A[mn]",
     .results = "A[mn] R[k] A[mu] A[vn] I[]",
     .options = "mode:ASN"},
    {.routine = Routine::gesvd,
     .name = "gesvd",
     .complex_name = "gesvd",
     .operands = "A[mn]",
     .results = "A[mn] R[k] A[mu] A[vn] I[]",
     .options = "mode:ASN"},
    {.routine = Routine::trsm,
     .name = "trsm",
     .complex_name = "trsm",
     .operands = "A[ss] A[mn]",
     .results = "A[mn]",
     .options = "side:LR uplo:LU trans_x:NTC diag:NU"},
    {.routine = Routine::gtsv,
     .name = "gtsv",
     .complex_name = "gtsv",
     .operands = "A[n] A[n] A[n] A[nr]",
     .results = "A[n] A[n] A[n] A[nr] I[]"},
    {.routine = Routine::perturbed,
     .name = "gtsv_perturbed",
     .complex_name = "gtsv_perturbed",
     .operands = "A[n] A[n] A[n] A[nr]",
     .results = "A[nr]"},
    // By the op of that name alone.
    {.routine = Routine::cholesky,
     .name = "cholesky",
     .complex_name = "cholesky",
     .operands = "A[nn]",
     .results = "A[nn]"},
};

}  // namespace

const Signature* find_signature(std::string_view name) {
  const auto* found = std::ranges::find_if(
      kSignatures, [&](const Signature& s) { return s.name == name || s.complex_name == name; });
  return found == std::end(kSignatures) ? nullptr : found;
}

std::vector<std::size_t> inner_ranks(std::string_view items) {
  std::vector<std::size_t> ranks;
  for (std::size_t open = items.find('['); open != std::string_view::npos;
       open = items.find('[', open + 1))
    ranks.push_back(items.find(']', open) - open - 1);
  return ranks;
}

}  // namespace heddle::lapack
