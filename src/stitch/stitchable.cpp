// Which ops a kernel can compute.
#include "heddle/op.h"
#include "heddle/stitch.h"

namespace heddle {

namespace {

// Element types that kernels compute with. The narrow floats and complex numbers are left to the
// reference evaluation.
bool is_kernel_type(const Type& type) {
  if (!type.is_tensor()) return false;
  switch (type.dtype) {
    case DType::i1:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::ui8:
    case DType::ui16:
    case DType::ui32:
    case DType::ui64:
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
      return true;
    default:
      return false;
  }
}

bool has_kernel_types(const Program& program, const Op& op) {
  for (ValueId v : program.operands(op))
    if (!is_kernel_type(program.type_of(v))) return false;
  for (std::size_t i = 0; i < op.result_count; ++i)
    if (!is_kernel_type(program.type_of(program.result(op, i)))) return false;
  return true;
}

}  // namespace

bool is_stitchable(const Program& program, const Op& op) {
  return has_kernel_types(program, op) && op.def->scalar != ScalarOp::none;
}

}  // namespace heddle
