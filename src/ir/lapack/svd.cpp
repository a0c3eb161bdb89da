// Singular values, by halves (gesdd) or by rotations (gesvd).
#include "ir/lapack/task.h"

namespace heddle::lapack {

namespace {

template <typename T>
class Singular {
 public:
  explicit Singular(const Call& call)
      : gesxx_(call),
        by_halves_(call.signature->routine == Routine::gesdd),
        mode_(call.options.mode),
        a_(call.rows(0), call.columns(0)),
        u_(a_.rows, static_cast<int>(call.results[2][1])),
        v_(static_cast<int>(call.results[3][0]), a_.columns) {
    const auto less = static_cast<std::size_t>(std::min(a_.rows, a_.columns));
    const auto more = static_cast<std::size_t>(std::max(a_.rows, a_.columns));
    words_ = integers_of(8 * less);
    if (kComplex<T>)
      reals_.resize(1 + std::max({7 * less, 5 * less * less + 5 * less,
                                  2 * more * less + 2 * less * less + less}));
    std::vector<Real<T>> values(less + 1);
    solve(values.data());
    work_.take_answer();
  }

  void operator()(In in, Out out) {
    a_.load(in[0]);
    int info = kNotFinite;
    if (all_finite(std::span<const T>(a_.elements)))
      info = solve(as<Real<T>>(out[1]));
    else
      std::fill_n(as<Real<T>>(out[1]), std::min(a_.rows, a_.columns),
                  std::numeric_limits<Real<T>>::quiet_NaN());
    a_.store(out[0]);
    u_.store(out[2]);
    v_.store(out[3]);
    put(out[4], info);
  }

 private:
  int solve(Real<T>* values) {
    int info = 0;
    const auto call = [&](auto*... last) {
      if (by_halves_)
        gesxx_(&mode_, &a_.rows, &a_.columns, a_.data(), &a_.step, values, u_.data(), &u_.step,
               v_.data(), &v_.step, work_.data(), work_.size(), last..., words_.data(), &info);
      else
        gesxx_(&mode_, &mode_, &a_.rows, &a_.columns, a_.data(), &a_.step, values, u_.data(),
               &u_.step, v_.data(), &v_.step, work_.data(), work_.size(), last..., &info);
    };
    if constexpr (kComplex<T>)
      call(reals_.data());
    else
      call();
    return info;
  }

  Subroutine gesxx_;
  bool by_halves_;
  char mode_;
  Matrix<T> a_, u_, v_;
  std::vector<Real<T>> reals_;
  std::vector<int> words_;
  Work<T> work_;
};

}  // namespace

template <typename T>
Task svd_task(const Call& call) {
  return Singular<T>(call);
}

template Task svd_task<float>(const Call&);
template Task svd_task<double>(const Call&);
template Task svd_task<std::complex<float>>(const Call&);
template Task svd_task<std::complex<double>>(const Call&);

}  // namespace heddle::lapack
