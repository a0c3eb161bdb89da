// One element of an elementwise op, as the reference evaluation computes it.
#pragma once

#include <cstdint>

#include "heddle/dtype.h"
#include "heddle/scalar_op.h"

namespace heddle {

// Elements come and go as their bytes, the first one lowest.
using ScalarFunction = std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t);

// What kernels compute with: i1, integers of 8 bits and more, f16, bf16, f32 and f64.
constexpr bool is_kernel_type(DType type) {
  if (type == DType::i1 || (type >= DType::i8 && type <= DType::i64)) return true;
  return (type >= DType::ui8 && type <= DType::ui64) || (type >= DType::f16 && type <= DType::f64);
}

// How kernels hold a value: floats of 8 bits as their bits.
constexpr DType kernel_type(DType type) {
  return type >= DType::f8e3m4 && type <= DType::f8e8m0fnu ? DType::ui8 : type;
}

// The function of `op` on operands of type `from` (of a select: yes and no) that gives a `to`; null
// where there is none.
ScalarFunction scalar_function(ScalarOp op, DType from, DType to);

}  // namespace heddle
