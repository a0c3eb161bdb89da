// Solutions: of triangles and of three diagonals.
#include "ir/lapack/task.h"

namespace heddle::lapack {

namespace {

// By rows, a x = b is xᵀ aᵀ = bᵀ by columns: the other side and the other triangle, and nothing has
// to be turned.
template <typename T>
Task trsm_task(const Call& call) {
  return [&call, trsm = Subroutine(call)](In in, Out out) {
    const Options& o = call.options;
    const char side = o.side == 'L' ? 'R' : 'L', uplo = o.uplo == 'L' ? 'U' : 'L';
    const int rows = call.columns(1), columns = call.rows(1), n = call.rows(0);
    const int a_step = std::max(n, 1), b_step = std::max(rows, 1);
    const T one{1};
    std::memcpy(out[0], in[1], static_cast<std::size_t>(call.operand_bytes[1]));
    trsm(&side, &uplo, &o.trans, &o.diag, &rows, &columns, &one, as<T>(in[0]), &a_step,
         as<T>(out[0]), &b_step);
  };
}

// Element 0 of the lower diagonal and the last one of the upper one do not exist.
template <typename T>
Task gtsv_task(const Call& call) {
  return [&call, gtsv = Subroutine(call), b = Matrix<T>(call.rows(3), call.columns(3))](
             In in, Out out) mutable {
    int info = 0;
    for (std::size_t i = 0; i < 3; ++i)
      std::memcpy(out[i], in[i], static_cast<std::size_t>(call.operand_bytes[i]));
    b.load(in[3]);
    gtsv(&b.rows, &b.columns, as<T>(out[0]) + 1, as<T>(out[1]), as<T>(out[2]), b.data(), &b.step,
         &info);
    b.store(out[3]);
    put(out[4], info);
  };
}

// Elimination with pivots, for matrices that are singular up to rounding: their null vectors come
// out of it, as inverse iteration wants them.
template <typename T>
class Perturbed {
 public:
  explicit Perturbed(const Call& call)
      : n_(static_cast<std::size_t>(call.rows(3))),
        columns_(static_cast<std::size_t>(call.columns(3))),
        beyond_(n_) {}

  void operator()(In in, Out out) {
    const auto take = [&](const std::byte* from, std::vector<T>& to) {
      to.assign(as<T>(from), as<T>(from) + n_);
    };
    take(in[0], low_), take(in[1], middle_), take(in[2], high_);
    Real<T> most = 0;
    for (const auto* line : {&low_, &middle_, &high_})
      for (const T& x : *line) most = std::max(most, std::abs(x));
    least_ = std::max(most * std::numeric_limits<Real<T>>::epsilon(),
                      std::numeric_limits<Real<T>>::min());
    x_ = as<T>(out[0]);
    std::copy_n(as<T>(in[3]), n_ * columns_, x_);
    for (std::size_t i = 0; i + 1 < n_; ++i) eliminate(i);
    keep_from_zero(middle_[n_ - 1]);
    for (std::size_t i = n_; i-- > 0;) substitute(i);
  }

 private:
  void keep_from_zero(T& pivot) const {
    if (std::abs(pivot) < least_) pivot = std::real(pivot) < 0 ? T(-least_) : T(least_);
  }

  void eliminate(std::size_t i) {
    T* row = x_ + i * columns_;
    T* next = row + columns_;
    beyond_[i] = T{};
    if (std::abs(low_[i + 1]) > std::abs(middle_[i])) {
      std::swap(middle_[i], low_[i + 1]);
      std::swap(high_[i], middle_[i + 1]);
      if (i + 2 < n_) std::swap(beyond_[i], high_[i + 1]);
      std::swap_ranges(row, next, next);
    }
    keep_from_zero(middle_[i]);
    const T times = low_[i + 1] / middle_[i];
    middle_[i + 1] -= times * high_[i];
    if (i + 2 < n_) high_[i + 1] -= times * beyond_[i];
    for (std::size_t j = 0; j < columns_; ++j) next[j] -= times * row[j];
  }

  void substitute(std::size_t i) {
    T* row = x_ + i * columns_;
    for (std::size_t j = 0; j < columns_; ++j) {
      T value = row[j];
      if (i + 1 < n_) value -= high_[i] * row[columns_ + j];
      if (i + 2 < n_) value -= beyond_[i] * row[2 * columns_ + j];
      row[j] = value / middle_[i];
    }
  }

  std::size_t n_, columns_;
  std::vector<T> low_, middle_, high_, beyond_;
  Real<T> least_ = 0;
  T* x_ = nullptr;
};

}  // namespace

template <typename T>
Task solve_task(const Call& call) {
  if (call.signature->routine == Routine::perturbed) return Perturbed<T>(call);
  return call.signature->routine == Routine::trsm ? trsm_task<T>(call) : gtsv_task<T>(call);
}

template Task solve_task<float>(const Call&);
template Task solve_task<double>(const Call&);
template Task solve_task<std::complex<float>>(const Call&);
template Task solve_task<std::complex<double>>(const Call&);

}  // namespace heddle::lapack
