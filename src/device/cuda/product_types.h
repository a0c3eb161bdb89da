// Element types of matrix products, as cuBLASLt has them.
#pragma once

#include <array>
#include <optional>

#include "device/cuda/blas_library.h"
#include "heddle/dtype.h"
#include "heddle/program.h"
#include "stitch/product_plan.h"

namespace heddle::cuda {

struct ProductTypes {
  std::array<int, 2> operands = {Blas::kF32, Blas::kF32};
  int result = Blas::kF32;
  int compute = Blas::kComputeF32, scale = Blas::kF32;
};

// Whether the program asks for factors of f32 that are rounded to TF32, and for nothing better.
bool asks_for_tf32(const AttrDict& of_product);

// Sums are kept in 32 bits or more, and nothing is rounded on the way in; nothing where there are
// no such products.
std::optional<ProductTypes> product_types(DType lhs, DType rhs, DType result);

// What types of eight bits want: both matrices row by row along what is summed up, in multiples
// of 16 elements.
bool is_for_small_types(const ProductPlan& plan);

}  // namespace heddle::cuda
