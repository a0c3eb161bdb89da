// Factors of a matrix: Cholesky, LU, QR, Hessenberg, tridiagonal.
#include "ir/lapack/task.h"

namespace heddle::lapack {

namespace {

// A symmetric matrix by rows is its own conjugate by columns, with the other triangle: nothing has
// to be turned.
template <typename T>
int factorise_in_place(const Call& call, const Subroutine& potrf, T* a) {
  const int n = call.rows(0), step = std::max(n, 1);
  const char uplo = call.options.uplo == 'L' ? 'U' : 'L';
  int info = 0;
  potrf(&uplo, &n, a, &step, &info);
  return info;
}

template <typename T>
Task potrf_task(const Call& call) {
  return [&call, potrf = Subroutine(call)](In in, Out out) {
    std::memcpy(out[0], in[0], static_cast<std::size_t>(call.operand_bytes[0]));
    put(out[1], factorise_in_place(call, potrf, as<T>(out[0])));
  };
}

template <typename T>
Task cholesky_task(const Call& call) {
  return [&call, potrf = Subroutine(call)](In in, Out out) {
    std::memcpy(out[0], in[0], static_cast<std::size_t>(call.operand_bytes[0]));
    T* a = as<T>(out[0]);
    const auto n = static_cast<std::size_t>(call.rows(0));
    if (factorise_in_place(call, potrf, a) != 0)
      std::fill(a, a + n * n, T(std::numeric_limits<Real<T>>::quiet_NaN()));
    const bool lower = call.options.uplo == 'L';
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (lower ? j > i : j < i) a[i * n + j] = T{};
  };
}

template <typename T>
Task getrf_task(const Call& call) {
  return [getrf = Subroutine(call), a = Matrix<T>(call.rows(0), call.columns(0))](In in,
                                                                                  Out out) mutable {
    int info = 0;
    a.load(in[0]);
    getrf(&a.rows, &a.columns, a.data(), &a.step, as<int>(out[1]), &info);
    a.store(out[0]);
    put(out[2], info);
  };
}

template <typename T>
Task geqrf_task(const Call& call) {
  const Subroutine geqrf(call);
  Matrix<T> a(call.rows(0), call.columns(0));
  Work<T> work;
  int info = 0;
  T none{};
  geqrf(&a.rows, &a.columns, a.data(), &a.step, &none, work.data(), work.size(), &info);
  work.take_answer();
  return [geqrf, a, work](In in, Out out) mutable {
    int info = 0;
    a.load(in[0]);
    geqrf(&a.rows, &a.columns, a.data(), &a.step, as<T>(out[1]), work.data(), work.size(), &info);
    a.store(out[0]);
  };
}

template <typename T>
Task orgqr_task(const Call& call) {
  const Subroutine orgqr(call);
  Matrix<T> a(call.rows(0), call.columns(0));
  int reflectors = call.rows(1), info = 0;
  Work<T> work;
  T none{};
  orgqr(&a.rows, &a.columns, &reflectors, a.data(), &a.step, &none, work.data(), work.size(),
        &info);
  work.take_answer();
  return [orgqr, a, reflectors, work](In in, Out out) mutable {
    int info = 0;
    a.load(in[0]);
    orgqr(&a.rows, &a.columns, &reflectors, a.data(), &a.step, as<T>(in[1]), work.data(),
          work.size(), &info);
    a.store(out[0]);
  };
}

template <typename T>
Task ormqr_task(const Call& call) {
  const Subroutine ormqr(call);
  Matrix<T> a(call.rows(0), call.columns(0)), c(call.rows(2), call.columns(2));
  int reflectors = call.rows(1), info = 0;
  char side = call.options.from_left ? 'L' : 'R';
  char trans = !call.options.transposed ? 'N' : kComplex<T> ? 'C' : 'T';
  Work<T> work;
  T none{};
  ormqr(&side, &trans, &c.rows, &c.columns, &reflectors, a.data(), &a.step, &none, c.data(),
        &c.step, work.data(), work.size(), &info);
  work.take_answer();
  return [=](In in, Out out) mutable {
    int info = 0;
    a.load(in[0]);
    c.load(in[2]);
    ormqr(&side, &trans, &c.rows, &c.columns, &reflectors, a.data(), &a.step, as<T>(in[1]),
          c.data(), &c.step, work.data(), work.size(), &info);
    c.store(out[0]);
  };
}

template <typename T>
Task geqp3_task(const Call& call) {
  const Subroutine geqp3(call);
  Matrix<T> a(call.rows(0), call.columns(0));
  Work<T> work;
  std::vector<Real<T>> reals(2 * static_cast<std::size_t>(a.columns) + 1);
  auto factorise = [geqp3, reals](Matrix<T>& a, int* order, T* tau, Work<T>& work) mutable {
    int info = 0;
    if constexpr (kComplex<T>)
      geqp3(&a.rows, &a.columns, a.data(), &a.step, order, tau, work.data(), work.size(),
            reals.data(), &info);
    else
      geqp3(&a.rows, &a.columns, a.data(), &a.step, order, tau, work.data(), work.size(), &info);
  };
  T none{};
  factorise(a, integers_of(static_cast<std::size_t>(a.columns)).data(), &none, work);
  work.take_answer();
  return [factorise, a, work](In in, Out out) mutable {
    a.load(in[0]);
    std::memcpy(out[1], in[1], static_cast<std::size_t>(a.columns) * sizeof(int));
    factorise(a, as<int>(out[1]), as<T>(out[2]), work);
    a.store(out[0]);
  };
}

template <typename T>
Task gehrd_task(const Call& call) {
  const Subroutine gehrd(call);
  Matrix<T> a(call.rows(0), call.columns(0));
  int low = call.options.low, high = call.options.high, info = 0;
  Work<T> work;
  T none{};
  gehrd(&a.rows, &low, &high, a.data(), &a.step, &none, work.data(), work.size(), &info);
  work.take_answer();
  return [=](In in, Out out) mutable {
    int info = 0;
    a.load(in[0]);
    gehrd(&a.rows, &low, &high, a.data(), &a.step, as<T>(out[1]), work.data(), work.size(), &info);
    a.store(out[0]);
    put(out[2], info);
  };
}

template <typename T>
Task sytrd_task(const Call& call) {
  const Subroutine sytrd(call);
  Matrix<T> a(call.rows(0), call.columns(0));
  char uplo = call.options.uplo;
  int info = 0;
  Work<T> work;
  T none{};
  Real<T> real{};
  sytrd(&uplo, &a.rows, a.data(), &a.step, &real, &real, &none, work.data(), work.size(), &info);
  work.take_answer();
  return [=](In in, Out out) mutable {
    int info = 0;
    a.load(in[0]);
    sytrd(&uplo, &a.rows, a.data(), &a.step, as<Real<T>>(out[1]), as<Real<T>>(out[2]),
          as<T>(out[3]), work.data(), work.size(), &info);
    a.store(out[0]);
    put(out[4], info);
  };
}

}  // namespace

template <typename T>
Task factor_task(const Call& call) {
  switch (call.signature->routine) {
    case Routine::potrf:
      return potrf_task<T>(call);
    case Routine::cholesky:
      return cholesky_task<T>(call);
    case Routine::getrf:
      return getrf_task<T>(call);
    case Routine::geqrf:
      return geqrf_task<T>(call);
    case Routine::orgqr:
      return orgqr_task<T>(call);
    case Routine::ormqr:
      return ormqr_task<T>(call);
    case Routine::geqp3:
      return geqp3_task<T>(call);
    case Routine::gehrd:
      return gehrd_task<T>(call);
    case Routine::sytrd:
      return sytrd_task<T>(call);
    default:
      return {};
  }
}

template Task factor_task<float>(const Call&);
template Task factor_task<double>(const Call&);
template Task factor_task<std::complex<float>>(const Call&);
template Task factor_task<std::complex<double>>(const Call&);

}  // namespace heddle::lapack
