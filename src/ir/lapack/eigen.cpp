// Eigenvalues: of symmetric matrices, of any, and the Schur form.
#include "ir/lapack/task.h"

namespace heddle::lapack {

namespace {

// The triangle that is read.
template <typename T>
bool triangle_is_finite(const Matrix<T>& a, char uplo) {
  for (int j = 0; j < a.columns; ++j) {
    const int from = uplo == 'L' ? j : 0, to = uplo == 'L' ? a.rows : j + 1;
    if (!all_finite(std::span<const T>(&a.at(from, j), static_cast<std::size_t>(to - from))))
      return false;
  }
  return true;
}

// Eigenvalues of what is not finite.
template <typename T>
void fill_nan(T* values, Real<T>* imaginary, int count) {
  constexpr Real<T> kNaN = std::numeric_limits<Real<T>>::quiet_NaN();
  std::fill_n(values, count, T(kNaN));
  if (imaginary != nullptr) std::fill_n(imaginary, count, kNaN);
}

template <typename T>
class Symmetric {
 public:
  explicit Symmetric(const Call& call)
      : syevd_(call),
        a_(call.rows(0), call.columns(0)),
        mode_(call.options.mode),
        uplo_(call.options.uplo) {
    std::vector<Real<T>> values(static_cast<std::size_t>(a_.step));
    solve(values.data());
    work_.take_answer();
    reals_.take_answer();
    words_size_ = std::max(1, words_[0]);
    words_.assign(static_cast<std::size_t>(words_size_), 0);
  }

  void operator()(In in, Out out) {
    a_.load(in[0]);
    Real<T>* values = as<Real<T>>(out[1]);
    int info = kNotFinite;
    if (triangle_is_finite(a_, uplo_))
      info = solve(values);
    else
      fill_nan(values, nullptr, a_.rows);
    a_.store(out[0]);
    put(out[2], info);
  }

 private:
  int solve(Real<T>* values) {
    int info = 0;
    if constexpr (kComplex<T>)
      syevd_(&mode_, &uplo_, &a_.rows, a_.data(), &a_.step, values, work_.data(), work_.size(),
             reals_.data(), reals_.size(), words_.data(), &words_size_, &info);
    else
      syevd_(&mode_, &uplo_, &a_.rows, a_.data(), &a_.step, values, work_.data(), work_.size(),
             words_.data(), &words_size_, &info);
    return info;
  }

  Subroutine syevd_;
  Matrix<T> a_;
  char mode_, uplo_;
  Work<T> work_;
  Work<Real<T>> reals_;
  std::vector<int> words_ = {0};
  int words_size_ = -1;
};

// Columns of a real matrix, where two that belong together are real and imaginary part.
template <typename T>
void write_vectors(const Matrix<T>& packed, const T* imaginary, std::byte* to) {
  auto* target = reinterpret_cast<std::complex<T>*>(to);
  const int n = packed.rows;
  for (int i = 0; i < n; ++i) {
    std::complex<T>* row = target + static_cast<std::ptrdiff_t>(i) * n;
    for (int j = 0; j < n; ++j) {
      if (imaginary[j] == T{0} || j + 1 == n) {
        row[j] = packed.at(i, j);
        continue;
      }
      row[j] = {packed.at(i, j), packed.at(i, j + 1)};
      row[j + 1] = std::conj(row[j]);
      ++j;
    }
  }
}

template <typename T>
class General {
 public:
  explicit General(const Call& call)
      : geev_(call),
        a_(call.rows(0), call.columns(0)),
        left_(a_.rows, a_.rows),
        right_(a_.rows, a_.rows),
        with_left_(call.options.left_vectors),
        with_right_(call.options.right_vectors),
        reals_(2 * static_cast<std::size_t>(a_.step)),
        values_(static_cast<std::size_t>(a_.step)) {
    solve(values_.data(), reals_.data());
    work_.take_answer();
  }

  void operator()(In in, Out out) {
    a_.load(in[0]);
    int info = kNotFinite;
    Real<T>* imaginary = kComplex<T> ? nullptr : as<Real<T>>(out[1]);
    if (all_finite(std::span<const T>(a_.elements)))
      info = solve(as<T>(out[0]), imaginary);
    else
      fill_nan(as<T>(out[0]), imaginary, a_.rows);
    if constexpr (kComplex<T>) {
      left_.store(out[1]);
      right_.store(out[2]);
      put(out[3], info);
    } else {
      write_vectors(left_, as<T>(out[1]), out[2]);
      write_vectors(right_, as<T>(out[1]), out[3]);
      put(out[4], info);
    }
  }

 private:
  int solve(T* values, [[maybe_unused]] Real<T>* imaginary) {
    int info = 0;
    if constexpr (kComplex<T>)
      geev_(&with_left_, &with_right_, &a_.rows, a_.data(), &a_.step, values, left_.data(),
            &left_.step, right_.data(), &right_.step, work_.data(), work_.size(), reals_.data(),
            &info);
    else
      geev_(&with_left_, &with_right_, &a_.rows, a_.data(), &a_.step, values, imaginary,
            left_.data(), &left_.step, right_.data(), &right_.step, work_.data(), work_.size(),
            &info);
    return info;
  }

  Subroutine geev_;
  Matrix<T> a_, left_, right_;
  char with_left_, with_right_;
  std::vector<Real<T>> reals_;
  std::vector<T> values_;
  Work<T> work_;
};

template <typename T>
class Schur {
 public:
  explicit Schur(const Call& call)
      : gees_(call),
        a_(call.rows(0), call.columns(0)),
        vectors_(a_.rows, a_.rows),
        mode_(call.options.mode),
        sort_(call.options.sort),
        reals_(static_cast<std::size_t>(a_.step)),
        values_(static_cast<std::size_t>(a_.step)),
        words_(static_cast<std::size_t>(a_.step)) {
    int selected = 0;
    solve(values_.data(), reals_.data(), selected);
    work_.take_answer();
  }

  void operator()(In in, Out out) {
    a_.load(in[0]);
    int info = kNotFinite, selected = 0;
    Real<T>* imaginary = kComplex<T> ? nullptr : as<Real<T>>(out[3]);
    if (all_finite(std::span<const T>(a_.elements)))
      info = solve(as<T>(out[2]), imaginary, selected);
    else
      fill_nan(as<T>(out[2]), imaginary, a_.rows);
    a_.store(out[0]);
    vectors_.store(out[1]);
    const std::size_t next = kComplex<T> ? 3 : 4;
    put(out[next], selected);
    put(out[next + 1], info);
  }

 private:
  int solve(T* values, [[maybe_unused]] Real<T>* imaginary, int& selected) {
    int info = 0;
    void* select = nullptr;  // nothing is sorted
    if constexpr (kComplex<T>)
      gees_(&mode_, &sort_, select, &a_.rows, a_.data(), &a_.step, &selected, values,
            vectors_.data(), &vectors_.step, work_.data(), work_.size(), reals_.data(),
            words_.data(), &info);
    else
      gees_(&mode_, &sort_, select, &a_.rows, a_.data(), &a_.step, &selected, values, imaginary,
            vectors_.data(), &vectors_.step, work_.data(), work_.size(), words_.data(), &info);
    return info;
  }

  Subroutine gees_;
  Matrix<T> a_, vectors_;
  char mode_, sort_;
  std::vector<Real<T>> reals_;
  std::vector<T> values_;
  std::vector<int> words_;
  Work<T> work_;
};

}  // namespace

template <typename T>
Task eigen_task(const Call& call) {
  switch (call.signature->routine) {
    case Routine::syevd:
      return Symmetric<T>(call);
    case Routine::geev:
      return General<T>(call);
    case Routine::gees:
      return Schur<T>(call);
    default:
      return {};
  }
}

template Task eigen_task<float>(const Call&);
template Task eigen_task<double>(const Call&);
template Task eigen_task<std::complex<float>>(const Call&);
template Task eigen_task<std::complex<double>>(const Call&);

}  // namespace heddle::lapack
