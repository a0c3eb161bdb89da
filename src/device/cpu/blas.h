// OpenBLAS, loaded when the first product is prepared, and a plain loop where it is not there.
#pragma once

#include <complex>
#include <cstdint>

namespace heddle::cpu {

// C = A * B, or C + A * B; row-major. A is m x k with lda elements from row to row, or k x m where
// it is transposed; likewise B.
struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  bool transpose_a = false, transpose_b = false;
  bool accumulate = false;
};

// Runs on the calling thread only.
void gemm(const GemmShape& shape, const float* a, const float* b, float* c);
void gemm(const GemmShape& shape, const double* a, const double* b, double* c);
void gemm(const GemmShape& shape, const std::complex<float>* a, const std::complex<float>* b,
          std::complex<float>* c);
void gemm(const GemmShape& shape, const std::complex<double>* a, const std::complex<double>* b,
          std::complex<double>* c);
// Integers wrap.
void gemm(const GemmShape& shape, const std::uint8_t* a, const std::uint8_t* b, std::uint8_t* c);
void gemm(const GemmShape& shape, const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c);
void gemm(const GemmShape& shape, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* c);
void gemm(const GemmShape& shape, const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* c);

// Whether OpenBLAS was found.
bool has_blas();

}  // namespace heddle::cpu
