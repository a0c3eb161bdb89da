// Element types that products are computed in, and conversions into and out of them.
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "heddle/dtype.h"
#include "heddle/step_work.h"
#include "heddle/strided_view.h"
#include "heddle/thread_pool.h"

namespace heddle::cpu {

// What a product of these is computed in, where no sum has more than so many terms; nothing where
// only the reference evaluation can. Sums of short integers are exact as floats.
std::optional<DType> product_dtype(DType lhs, DType rhs, DType result,
                                   std::int64_t terms = INT64_MAX);

// Calls visit(T{}) with the C++ type that holds the element type: floats, complex numbers, and
// unsigned integers for all integers of the width.
template <typename Visit>
void with_product_type(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::f32:
      return visit(float{});
    case DType::f64:
      return visit(double{});
    case DType::c64:
      return visit(std::complex<float>{});
    case DType::c128:
      return visit(std::complex<double>{});
    default:
      break;
  }
  switch (byte_size(dtype)) {
    case 1:
      return visit(std::uint8_t{});
    case 2:
      return visit(std::uint16_t{});
    case 4:
      return visit(std::uint32_t{});
    default:
      return visit(std::uint64_t{});
  }
}

// Writes the elements of a strided tensor, the last dimension fastest, densely and as another type.
void pack(const std::byte* from, DType from_type, const std::vector<Stride>& dims, std::byte* to,
          DType to_type, ThreadPool& pool);
// What that is, for the cost model.
KernelWork packed_work(const std::vector<Stride>& dims, bool converts);

}  // namespace heddle::cpu
