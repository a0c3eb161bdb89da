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

bool asks_for_tf32(const AttrDict& of_product) {
  const Attr* asked = find_attr(of_product, "algorithm");
  const auto* algorithm = asked != nullptr ? asked->get<Attr::Struct>() : nullptr;
  if (algorithm == nullptr) return false;
  const auto is_tf32 = [&](std::string_view field) {
    const Attr* type = find_attr(algorithm->fields, field);
    const auto* word = type != nullptr ? type->get<Attr::Enum>() : nullptr;
    return word != nullptr && word->word == "tf32";
  };
  const auto is_one = [&](std::string_view field) {
    const Attr* count = find_attr(algorithm->fields, field);
    const auto* number = count != nullptr ? count->get<Attr::Integer>() : nullptr;
    return number != nullptr && number->value == 1;
  };
  return is_tf32("lhs_precision_type") && is_tf32("rhs_precision_type") &&
         is_one("lhs_component_count") && is_one("rhs_component_count") &&
         is_one("num_primitive_operations");
}

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
