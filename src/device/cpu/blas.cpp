#include "device/cpu/blas.h"

#include <type_traits>

#include "base/openblas.h"
#include "base/vector_of.h"
#include "cost/fitted.h"

namespace heddle::cpu {

namespace {

// The part of CBLAS that is used; its enums are ints.
constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
using Int = int;
template <typename T>
using RealGemm = void(int, int, int, Int, Int, Int, T, const T*, Int, const T*, Int, T, T*, Int);
template <typename T>
using RealGemv = void(int, int, Int, Int, T, const T*, Int, const T*, Int, T, T*, Int);
using ComplexGemm = void(int, int, int, Int, Int, Int, const void*, const void*, Int, const void*,
                         Int, const void*, void*, Int);

struct Blas {
  RealGemm<float>* sgemm = nullptr;
  RealGemm<double>* dgemm = nullptr;
  RealGemv<float>* sgemv = nullptr;
  RealGemv<double>* dgemv = nullptr;
  ComplexGemm *cgemm = nullptr, *zgemm = nullptr;

  Blas() {
    const OpenBlas& library = OpenBlas::get();
    library.find("cblas_sgemm", sgemm);
    library.find("cblas_dgemm", dgemm);
    library.find("cblas_sgemv", sgemv);
    library.find("cblas_dgemv", dgemv);
    library.find("cblas_cgemm", cgemm);
    library.find("cblas_zgemm", zgemm);
  }

  static const Blas& get() {
    static const Blas blas;
    return blas;
  }
};

constexpr std::int64_t kMostInt = INT32_MAX;

bool fits_blas(const GemmShape& s) {
  return s.m <= kMostInt && s.n <= kMostInt && s.k <= kMostInt && s.lda <= kMostInt &&
         s.ldb <= kMostInt && s.ldc <= kMostInt;
}

template <typename T>
T times(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}
// Without the recovery of infinities that std::complex does.
template <typename T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Row by row; B's rows are added up, so that the inner loop runs along memory.
template <typename T>
void plain_gemm(const GemmShape& s, const T* a, const T* b, T* c) {
  const std::int64_t a_row = s.transpose_a ? 1 : s.lda, a_step = s.transpose_a ? s.lda : 1;
  const std::int64_t b_row = s.transpose_b ? 1 : s.ldb, b_step = s.transpose_b ? s.ldb : 1;
  for (std::int64_t i = 0; i < s.m; ++i) {
    T* out = c + i * s.ldc;
    if (b_step == 1) {
      if (!s.accumulate)
        for (std::int64_t j = 0; j < s.n; ++j) out[j] = T{};
      for (std::int64_t p = 0; p < s.k; ++p) {
        const T left = a[i * a_row + p * a_step];
        const T* right = b + p * b_row;
        for (std::int64_t j = 0; j < s.n; ++j)
          out[j] = static_cast<T>(out[j] + times(left, right[j]));
      }
      continue;
    }
    for (std::int64_t j = 0; j < s.n; ++j) {
      T sum = s.accumulate ? out[j] : T{};
      for (std::int64_t p = 0; p < s.k; ++p)
        sum = static_cast<T>(sum + times(a[i * a_row + p * a_step], b[p * b_row + j * b_step]));
      out[j] = sum;
    }
  }
}

// Integers: four rows at a time, of as many columns as two vectors hold, whose sums stay in
// registers.
template <typename T>
HEDDLE_INLINE void tiles(const GemmShape& s, const T* a, const T* b, T* c) {
  using Vector = VectorOf<T>;
  constexpr std::int64_t kRows = 4, kLanes = sizeof(Vector) / sizeof(T), kColumns = 2 * kLanes;
  const std::int64_t a_row = s.transpose_a ? 1 : s.lda, a_step = s.transpose_a ? s.lda : 1;
  for (std::int64_t i = 0; i < s.m; i += kRows)
    for (std::int64_t j = 0; j < s.n; j += kColumns) {
      Vector sums[kRows][2] = {};
      for (std::int64_t p = 0; p < s.k; ++p) {
        Vector right[2];
        load_numbers(right[0], b + p * s.ldb + j);
        load_numbers(right[1], b + p * s.ldb + j + kLanes);
#pragma GCC unroll 4
        for (std::int64_t r = 0; r < kRows; ++r) {
          const T left = a[(i + r) * a_row + p * a_step];
          sums[r][0] += left * right[0];
          sums[r][1] += left * right[1];
        }
      }
#pragma GCC unroll 4
      for (std::int64_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
        for (std::int64_t half = 0; half < 2; ++half) {
          T* to = c + (i + r) * s.ldc + j + half * kLanes;
          Vector before = {};
          if (s.accumulate) load_numbers(before, to);
          store_numbers(Vector(before + sums[r][half]), to);
        }
    }
}
template <typename T>
HEDDLE_WIDE void wide_tiles(const GemmShape& s, const T* a, const T* b, T* c) {
  tiles(s, a, b, c);
}
template <typename T>
void integer_gemm(const GemmShape& s, const T* a, const T* b, T* c) {
  if (s.transpose_b || s.m < 4 || !has_wide_vectors()) return plain_gemm(s, a, b, c);
  constexpr std::int64_t kRows = 4, kColumns = 64 / sizeof(T);
  // What is left of rows and columns goes the plain way.
  GemmShape inner = s, right = s, below = s;
  inner.m = s.m / kRows * kRows, inner.n = s.n / kColumns * kColumns;
  right.m = inner.m, right.n = s.n - inner.n;
  below.m = s.m - inner.m;
  wide_tiles(inner, a, b, c);
  if (right.n > 0) plain_gemm(right, a, b + inner.n, c + inner.n);
  if (below.m > 0)
    plain_gemm(below, a + inner.m * (s.transpose_a ? 1 : s.lda), b, c + inner.m * s.ldc);
}

// One row or one column: half of the traffic of a product.
template <typename T>
bool by_gemv(const GemmShape& s, const T* a, const T* b, T* c, RealGemv<T>* gemv) {
  if (gemv == nullptr || (s.m != 1 && s.n != 1)) return false;
  // What is there may be NaN, which some versions multiply by a beta of 0.
  if (!s.accumulate)
    for (std::int64_t i = 0; i < s.m * s.n; ++i) c[s.n == 1 ? i * s.ldc : i] = T{};
  if (s.n == 1) {
    const bool t = s.transpose_a;
    gemv(kRowMajor, t ? kTransposed : kPlain, static_cast<Int>(t ? s.k : s.m),
         static_cast<Int>(t ? s.m : s.k), T{1}, a, static_cast<Int>(s.lda), b,
         static_cast<Int>(s.transpose_b ? 1 : s.ldb), T{1}, c, static_cast<Int>(s.ldc));
    return true;
  }
  const bool t = s.transpose_b;
  gemv(kRowMajor, t ? kPlain : kTransposed, static_cast<Int>(t ? s.n : s.k),
       static_cast<Int>(t ? s.k : s.n), T{1}, b, static_cast<Int>(s.ldb), a,
       static_cast<Int>(s.transpose_a ? s.lda : 1), T{1}, c, 1);
  return true;
}

template <typename T>
void real_gemm(const GemmShape& s, const T* a, const T* b, T* c, RealGemm<T>* call,
               RealGemv<T>* gemv) {
  if (call == nullptr || !fits_blas(s) || s.m * s.n * s.k <= cost::kTinyProduct || s.k == 0)
    return plain_gemm(s, a, b, c);
  if (by_gemv(s, a, b, c, gemv)) return;
  call(kRowMajor, s.transpose_a ? kTransposed : kPlain, s.transpose_b ? kTransposed : kPlain,
       static_cast<Int>(s.m), static_cast<Int>(s.n), static_cast<Int>(s.k), T{1}, a,
       static_cast<Int>(s.lda), b, static_cast<Int>(s.ldb), s.accumulate ? T{1} : T{0}, c,
       static_cast<Int>(s.ldc));
}

template <typename T>
void complex_gemm(const GemmShape& s, const std::complex<T>* a, const std::complex<T>* b,
                  std::complex<T>* c, ComplexGemm* call) {
  if (call == nullptr || !fits_blas(s) || s.m * s.n * s.k <= cost::kTinyProduct || s.k == 0)
    return plain_gemm(s, a, b, c);
  const std::complex<T> one = 1, beta = s.accumulate ? 1 : 0;
  call(kRowMajor, s.transpose_a ? kTransposed : kPlain, s.transpose_b ? kTransposed : kPlain,
       static_cast<Int>(s.m), static_cast<Int>(s.n), static_cast<Int>(s.k), &one, a,
       static_cast<Int>(s.lda), b, static_cast<Int>(s.ldb), &beta, c, static_cast<Int>(s.ldc));
}

}  // namespace

bool has_blas() { return Blas::get().sgemm != nullptr; }

void gemm(const GemmShape& s, const float* a, const float* b, float* c) {
  real_gemm(s, a, b, c, Blas::get().sgemm, Blas::get().sgemv);
}
void gemm(const GemmShape& s, const double* a, const double* b, double* c) {
  real_gemm(s, a, b, c, Blas::get().dgemm, Blas::get().dgemv);
}
void gemm(const GemmShape& s, const std::complex<float>* a, const std::complex<float>* b,
          std::complex<float>* c) {
  complex_gemm(s, a, b, c, Blas::get().cgemm);
}
void gemm(const GemmShape& s, const std::complex<double>* a, const std::complex<double>* b,
          std::complex<double>* c) {
  complex_gemm(s, a, b, c, Blas::get().zgemm);
}
void gemm(const GemmShape& s, const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* c) {
  plain_gemm(s, a, b, c);
}
void gemm(const GemmShape& s, const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c) {
  plain_gemm(s, a, b, c);
}
void gemm(const GemmShape& s, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* c) {
  integer_gemm(s, a, b, c);
}
void gemm(const GemmShape& s, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c) {
  integer_gemm(s, a, b, c);
}

}  // namespace heddle::cpu
