// The few functions of cuBLASLt that are used, with its numbers for things.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "device/cuda/driver.h"

namespace heddle::cuda {

struct Blas {
  // cublasLtMatmulHeuristicResult_t: a way to compute a product, and what it needs.
  struct Way {
    std::uint64_t algorithm[8] = {};
    std::size_t workspace = 0;
    int status = 0;
    float waves = 0;
    int reserved[4] = {};
  };

  int (*create)(Handle*) = nullptr;
  std::size_t (*version)() = nullptr;
  int (*create_product)(Handle*, int compute, int scale) = nullptr;
  int (*set_product)(Handle, int, const void*, std::size_t) = nullptr;
  int (*destroy_product)(Handle) = nullptr;
  int (*create_matrix)(Handle*, int type, std::uint64_t rows, std::uint64_t columns,
                       std::int64_t apart) = nullptr;
  int (*set_matrix)(Handle, int, const void*, std::size_t) = nullptr;
  int (*destroy_matrix)(Handle) = nullptr;
  int (*create_wish)(Handle*) = nullptr;
  int (*set_wish)(Handle, int, const void*, std::size_t) = nullptr;
  int (*destroy_wish)(Handle) = nullptr;
  int (*ways)(Handle, Handle product, Handle a, Handle b, Handle c, Handle d, Handle wish, int,
              Way*, int*) = nullptr;
  int (*multiply)(Handle, Handle product, const void* alpha, Pointer a, Handle a_matrix, Pointer b,
                  Handle b_matrix, const void* beta, Pointer c, Handle c_matrix, Pointer d,
                  Handle d_matrix, const Way*, Pointer workspace, std::size_t,
                  Handle stream) = nullptr;
  std::string path;

  // Attributes of a product; what follows it, with a row, and with a matrix that is written too.
  static constexpr int kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBias = 8, kAux = 11,
                       kAuxApart = 12;
  // What may follow, to be added up.
  static constexpr int kNothing = 1, kRelu = 2, kWithBias = 4, kGelu = 32, kGeluGradient = 64,
                       kWithAux = 128;
  static constexpr int kCount = 5, kApart = 6;  // of a matrix: a batch of them
  static constexpr int kWorkspace = 1;          // of a wish
  static constexpr int kAlignedA = 5, kAlignedB = 6, kAlignedC = 7, kAlignedD = 8;
  static constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kBF16 = 14, kE4M3 = 28,
                       kE5M2 = 29;  // types
  static constexpr int kComputeF32 = 68, kComputeF64 = 70, kComputeTF32 = 77;
};

Expected<const Blas*> blas_library();

}  // namespace heddle::cuda
