#include "device/cuda/product_types.h"

namespace heddle::cuda {

namespace {

std::optional<int> code_of_type(DType type) {
  switch (type) {
    case DType::f32:
      return Blas::kF32;
    case DType::f64:
      return Blas::kF64;
    case DType::f16:
      return Blas::kF16;
    case DType::bf16:
      return Blas::kBF16;
    case DType::f8e4m3fn:
      return Blas::kE4M3;
    case DType::f8e5m2:
      return Blas::kE5M2;
    default:
      return {};
  }
}

}  // namespace

std::optional<ProductTypes> product_types(DType lhs, DType rhs, DType result) {
  const auto a = code_of_type(lhs), b = code_of_type(rhs), c = code_of_type(result);
  if (!a || !b || !c) return {};
  if (byte_size(lhs) == 1) {
    const bool has_way = byte_size(rhs) == 1 && (*a == Blas::kE4M3 || *b == Blas::kE4M3) &&
                         (*c == Blas::kF32 || *c == Blas::kBF16 || *c == Blas::kF16);
    if (!has_way) return {};
    return ProductTypes{{*a, *b}, *c};
  }
  if (lhs != rhs || (result != lhs && (byte_size(lhs) != 2 || result != DType::f32))) return {};
  if (lhs == DType::f64) return ProductTypes{{*a, *b}, *c, Blas::kComputeF64, Blas::kF64};
  return ProductTypes{{*a, *b}, *c};
}

bool is_for_small_types(const ProductPlan& p) {
  constexpr std::int64_t kMultiple = 16;
  std::int64_t all =
      p.m | p.n | p.k | p.lda | p.ldb | p.ldc | p.sides[0].offset | p.sides[1].offset;
  for (const ProductLoop& loop : p.loops) all |= loop.a | loop.b | loop.c;
  return !p.transpose_a && p.transpose_b && all % kMultiple == 0;
}

}  // namespace heddle::cuda
