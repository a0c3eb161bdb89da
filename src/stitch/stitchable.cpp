// Which ops a kernel can compute, and the device leaves to kernels.
#include "heddle/op.h"
#include "heddle/stitch.h"
#include "ir/attr_access.h"
#include "ir/eval/scalar_function.h"

namespace heddle {

namespace {

// Complex numbers enter and leave a kernel as their parts.
bool takes_complex(const Op& op) {
  return op.def->emission == Emission::real_part || op.def->emission == Emission::imaginary_part ||
         op.def->emission == Emission::pair;
}

// What does not matter is what elements mean.
bool takes_bits(const Op& op) {
  switch (op.def->emission) {
    case Emission::bitcast:
    case Emission::copy:
    case Emission::join:
    case Emission::dynamic_slice:
    case Emission::dynamic_update_slice:
    case Emission::gather:
      return true;
    default:
      return false;
  }
}

// Values without elements are nobody's work.
bool has_kernel_types(const Program& program, const Op& op) {
  auto fits = [&](ValueId v) {
    const Type& type = program.type_of(v);
    return type.is_tensor() && type.elements() > 0 &&
           (is_kernel_type(takes_bits(op) ? kernel_type(type.dtype) : type.dtype) ||
            (takes_complex(op) && is_complex(type.dtype)));
  };
  for (ValueId v : program.operands(op))
    if (!fits(v)) return false;
  for (std::size_t i = 0; i < op.result_count; ++i)
    if (!fits(program.result(op, i))) return false;
  return true;
}

bool is_total_order(const Program& program, const Op& op) {
  return word_or(program.attr(op, "compare_type"), "") == "TOTALORDER";
}

// Scalars in, scalars out, nothing from around.
bool is_combiner(const Program& program, const Op& op) {
  if (!captured_values(program, op).empty()) return false;
  for (OpId id : program.region(program.regions(op)[0]).ops) {
    const Op& inner = program.op(id);
    if (inner.def->form == Form::constant || inner.def->form == Form::terminator) continue;
    if (inner.def->emission == Emission::compare && is_total_order(program, inner)) return false;
    if (inner.def->emission != Emission::scalar && inner.def->emission != Emission::compare)
      return false;
    if (!has_kernel_types(program, inner)) return false;
  }
  return true;
}

// A narrow product rounds at every step, as no kernel does.
bool is_kernel_product(const Program& program, const Op& op) {
  const DType dtype = program.type_of(program.result(op, 0)).dtype;
  return dtype != DType::f16 && dtype != DType::bf16 && dtype != DType::i1;
}

// Unless its region computes in a wider type.
bool is_kernel_scatter(const Program& program, const Op& op) {
  for (std::size_t i = 0; i < op.result_count; ++i)
    if (program.type_of(program.operands(op)[i]).dtype !=
        program.type_of(program.result(op, i)).dtype)
      return false;
  return is_combiner(program, op);
}

bool can_be_kernel(const Program& program, const Op& op) {
  if (!has_kernel_types(program, op)) return false;
  switch (op.def->emission) {
    case Emission::none:
      return false;
    case Emission::scatter:
      return is_kernel_scatter(program, op);
    case Emission::compare:
      return !is_total_order(program, op);
    case Emission::bitcast:
      return program.type_of(program.operands(op)[0]).shape ==
             program.type_of(program.result(op, 0)).shape;
    case Emission::real_part:
    case Emission::imaginary_part:
      return is_complex(program.type_of(program.operands(op)[0]).dtype);
    case Emission::reduce:
      return is_combiner(program, op);
    case Emission::contract:
      return is_kernel_product(program, op);
    default:
      return true;
  }
}

}  // namespace

bool is_stitchable(const Program& program, const Op& op, const DeviceCalls* calls) {
  return can_be_kernel(program, op) && (calls == nullptr || !calls->prefers_call(program, op));
}

}  // namespace heddle
