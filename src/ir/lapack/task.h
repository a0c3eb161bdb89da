// One matrix of a call: what the families of routines share.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>

#include "ir/lapack/call.h"

namespace heddle::lapack {

using In = const std::byte* const*;
using Out = std::byte* const*;
// Works on one matrix after the other, in room that it keeps.
using Task = std::function<void(In, Out)>;

template <typename T>
struct RealOf {
  using type = T;
};
template <typename T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <typename T>
using Real = typename RealOf<T>::type;
template <typename T>
inline constexpr bool kComplex = !std::is_same_v<T, Real<T>>;

// A Fortran subroutine: all arguments are addresses, and behind them come the lengths of its texts,
// of which none has more than four.
class Subroutine {
 public:
  explicit Subroutine(const Call& call);
  bool found() const { return address_ != nullptr; }

  template <typename... Args>
  void operator()(Args*... args) const {
    using Function = void (*)(Args*..., std::size_t, std::size_t, std::size_t, std::size_t);
    reinterpret_cast<Function>(address_)(args..., 1, 1, 1, 1);
  }

 private:
  void* address_ = nullptr;
};

// By columns, as Fortran has it; arrays come and go by rows.
template <typename T>
struct Matrix {
  int rows = 0, columns = 0;
  int step = 1;  // from column to column
  std::vector<T> elements;

  Matrix(int rows, int columns)
      : rows(rows),
        columns(columns),
        step(std::max(rows, 1)),
        elements(static_cast<std::size_t>(step) * static_cast<std::size_t>(std::max(columns, 1))) {}

  T* data() { return elements.data(); }

  void load(const std::byte* from) {
    const T* source = reinterpret_cast<const T*>(from);
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) at(i, j) = source[place(i, j)];
  }
  void store(std::byte* to) const {
    T* target = reinterpret_cast<T*>(to);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) target[place(i, j)] = at(i, j);
  }
  T& at(int i, int j) {
    return elements[static_cast<std::size_t>(j) * static_cast<std::size_t>(step) +
                    static_cast<std::size_t>(i)];
  }
  const T& at(int i, int j) const { return const_cast<Matrix&>(*this).at(i, j); }

 private:
  std::size_t place(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(columns) +
           static_cast<std::size_t>(j);
  }
};

template <typename T>
bool all_finite(std::span<const T> values) {
  return std::ranges::all_of(values, [](const T& x) {
    if constexpr (kComplex<T>)
      return std::isfinite(x.real()) && std::isfinite(x.imag());
    else
      return std::isfinite(x);
  });
}

// Room of the size that a routine asks for when it is called with a size of -1.
template <typename T>
class Work {
 public:
  T* data() { return room_.data(); }
  int* size() { return &size_; }
  // A number that float cannot hold was rounded: the next one is enough.
  void take_answer() {
    const Real<T> answer = std::real(room_[0]);
    const Real<T> enough = std::nextafter(answer, std::numeric_limits<Real<T>>::infinity());
    size_ = std::max(1, static_cast<int>(std::ceil(enough)));
    room_.assign(static_cast<std::size_t>(size_), T{});
  }

 private:
  std::vector<T> room_ = std::vector<T>(1);
  int size_ = -1;
};

template <typename T>
T* as(std::byte* bytes) {
  return reinterpret_cast<T*>(bytes);
}
// Fortran does not know const; what is read is not written.
template <typename T>
T* as(const std::byte* bytes) {
  return const_cast<T*>(reinterpret_cast<const T*>(bytes));
}
inline void put(std::byte* to, int value) { std::memcpy(to, &value, sizeof(value)); }
inline std::vector<int> integers_of(std::size_t count) {
  return std::vector<int>(std::max<std::size_t>(count, 1));
}

// What JAX takes as "no result" where LAPACK might never end.
inline constexpr int kNotFinite = -4;

template <typename T>
Task factor_task(const Call& call);
template <typename T>
Task eigen_task(const Call& call);
template <typename T>
Task svd_task(const Call& call);
template <typename T>
Task solve_task(const Call& call);

}  // namespace heddle::lapack
