#include "device/cuda/combine.h"

#include <fmt/format.h>

#include "kernel/emit_cuda.h"
#include "kernel/reduce_scalar.h"

namespace heddle::cuda {

bool has_combination(ReduceOp op, DType dtype) {
  const bool is_logical = op == ReduceOp::logical_and || op == ReduceOp::logical_or;
  switch (dtype) {
    case DType::i1:
      return is_logical;
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
      return !is_logical;
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::ui8:
    case DType::ui16:
    case DType::ui32:
    case DType::ui64:
      return true;
    default:
      return false;
  }
}

std::string combine_text(ReduceOp op, DType dtype) {
  return fmt::format(R"cuda({0}
struct Parts {{ const {1}* at[{2}]; }};
extern "C" __global__ void combine(Parts parts, i64 count, {1}* out, i64 run, i64 step, i64 elements) {{
  const i64 threads = (i64)gridDim.x * blockDim.x;
  for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += threads) {{
    const i64 at = step == run ? i : i / run * step + i % run;
    {3} sum = parts.at[0][at]{4};
    for (i64 k = 1; k < count; ++k) {{
      const {3} next = parts.at[k][at]{4};
      sum = h_{5}(sum, next);
    }}
    out[i] = sum;
  }}
}}
)cuda",
                     cuda_prelude(), cuda_memory_type(dtype), kMostCombined, cuda_type(dtype),
                     dtype == DType::i1 ? " != 0" : "", name(scalar_of(op)));
}

}  // namespace heddle::cuda
