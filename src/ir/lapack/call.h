// LAPACK over batches of matrices. heddle.lapack is one routine, as JAX's custom calls ask for it;
// cholesky and triangular_solve are routines, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/op.h"
#include "heddle/thread_pool.h"

namespace heddle::lapack {

enum class Routine : std::uint8_t {
  potrf,
  getrf,
  geqrf,
  orgqr,
  ormqr,
  geqp3,
  gehrd,
  sytrd,
  syevd,
  geev,
  gees,
  gesdd,
  gesvd,
  trsm,
  gtsv,
  perturbed,  // gtsv that makes pivots of zero small: written here, not LAPACK's
  cholesky,   // potrf, with zeros beside the factor and NaN where there is none
};

// What a routine takes and gives of each matrix: A[mn] has the operand's element type, R its real
// type, C the complex one, and I is i32; k is the smaller of m and n, h is n - 1.
struct Signature {
  Routine routine = Routine::potrf;
  std::string_view name, complex_name;         // potrf; heevd for syevd of complex numbers
  std::string_view operands, results;          // "A[nn]", "A[nn] I[]"
  std::string_view complex_results = {};       // where complex numbers have others
  std::string_view options = {};               // and their letters: "uplo:LU"
  std::string_view numbers = {}, truths = {};  // options that are no letters: "low high"
};

// By either name; null where there is none.
const Signature* find_signature(std::string_view name);
// How many dimensions each operand or result has, beside those of the batch.
std::vector<std::size_t> inner_ranks(std::string_view items);

struct Options {
  char uplo = 'L', mode = 'N', side = 'L', trans = 'N', diag = 'N', sort = 'N';
  char left_vectors = 'N', right_vectors = 'N';
  bool from_left = true, transposed = false;
  int low = 1, high = 1;
};

// A routine with all that it needs to know of an op.
struct Call {
  const Signature* signature = nullptr;
  DType dtype = DType::f32;
  Options options = {};
  std::int64_t batches = 1;
  std::vector<Shape> operands, results;  // of one matrix each
  std::vector<std::int64_t> operand_bytes, result_bytes;

  int rows(std::size_t operand) const { return static_cast<int>(operands[operand][0]); }
  int columns(std::size_t operand) const { return static_cast<int>(operands[operand][1]); }
};

// The call of a heddle.lapack, or which of its operands, options and results do not fit.
Expected<Call> call_of(const Program& program, const Op& op);
// The call that computes an op, heddle.lapack or another; none where LAPACK has none for it or its
// element type.
std::optional<Call> call_for(const Program& program, const Op& op);

// Why it cannot run: OpenBLAS was not found.
Verdict can_run(const Call& call);
// Dense and row-major; matrices of a batch are dealt out to the workers.
void run(const Call& call, std::span<std::byte* const> operands,
         std::span<std::byte* const> results, ThreadPool& pool);

// "sgetrf of 2 x 4x4", for people.
std::string text(const Call& call);

}  // namespace heddle::lapack
