// Calls OpenBLAS's LAPACK for every matrix of a batch.
#include "base/openblas.h"
#include "ir/lapack/task.h"

namespace heddle::lapack {

namespace {

char letter(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 's';
    case DType::f64:
      return 'd';
    case DType::c64:
      return 'c';
    default:
      return 'z';
  }
}

// spotrf_
std::string symbol_of(const Call& call) {
  const Signature& s = *call.signature;
  const std::string_view name = s.routine == Routine::cholesky ? std::string_view("potrf")
                                : is_complex(call.dtype)       ? s.complex_name
                                                               : s.name;
  return fmt::format("{}{}_", letter(call.dtype), name);
}

template <typename T>
Task task_of(const Call& call) {
  switch (call.signature->routine) {
    case Routine::syevd:
    case Routine::geev:
    case Routine::gees:
      return eigen_task<T>(call);
    case Routine::gesdd:
    case Routine::gesvd:
      return svd_task<T>(call);
    case Routine::trsm:
    case Routine::gtsv:
    case Routine::perturbed:
      return solve_task<T>(call);
    default:
      return factor_task<T>(call);
  }
}

Task make_task(const Call& call) {
  switch (call.dtype) {
    case DType::f32:
      return task_of<float>(call);
    case DType::f64:
      return task_of<double>(call);
    case DType::c64:
      return task_of<std::complex<float>>(call);
    default:
      return task_of<std::complex<double>>(call);
  }
}

constexpr std::size_t kMostValues = 8;

bool is_empty(const Call& call) {
  return call.batches == 0 || std::ranges::any_of(call.operands[0], [](auto n) { return n == 0; });
}

// Matrices that one worker takes at a time.
constexpr double kPart = 1 << 18;

std::int64_t group_size(const Call& call) {
  double steps = 1;
  for (std::int64_t n : call.operands[0]) steps *= static_cast<double>(n);
  steps *= static_cast<double>(call.operands[0].back());
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(kPart / steps), 1, call.batches);
}

}  // namespace

Subroutine::Subroutine(const Call& call)
    : address_(OpenBlas::get().symbol(symbol_of(call).c_str())) {}

Verdict can_run(const Call& call) {
  if (call.signature->routine == Routine::perturbed || Subroutine(call).found()) return yes();
  return reason(
      "{} is computed by OpenBLAS's LAPACK, and libopenblas.so.0 was not found, or has no {}: "
      "install libopenblas0",
      call.signature->name, symbol_of(call));
}

void run(const Call& call, std::span<std::byte* const> operands,
         std::span<std::byte* const> results, ThreadPool& pool) {
  if (is_empty(call)) {
    for (std::size_t i = 0; i < results.size(); ++i)
      std::memset(results[i], 0, static_cast<std::size_t>(call.result_bytes[i] * call.batches));
    return;
  }
  const std::int64_t group = group_size(call);
  pool.parallel_for((call.batches + group - 1) / group, [&](std::int64_t chunk, int) {
    const Task task = make_task(call);
    const std::byte* in[kMostValues];
    std::byte* out[kMostValues];
    const std::int64_t end = std::min(call.batches, (chunk + 1) * group);
    for (std::int64_t batch = chunk * group; batch < end; ++batch) {
      for (std::size_t i = 0; i < operands.size(); ++i)
        in[i] = operands[i] + batch * call.operand_bytes[i];
      for (std::size_t i = 0; i < results.size(); ++i)
        out[i] = results[i] + batch * call.result_bytes[i];
      task(in, out);
    }
  });
}

}  // namespace heddle::lapack
