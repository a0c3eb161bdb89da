// Which ops a kernel can compute.
#include <algorithm>

#include "heddle/op.h"
#include "heddle/stitch.h"
#include "ir/attr_access.h"
#include "ir/eval/scalar_function.h"
#include "stitch/scatter.h"

namespace heddle {

namespace {

// Complex numbers enter and leave a kernel as their parts.
bool takes_complex(const Op& op) {
  return op.def->emission == Emission::real_part || op.def->emission == Emission::imaginary_part ||
         op.def->emission == Emission::pair;
}

// Values without elements are nobody's work.
bool has_kernel_types(const Program& program, const Op& op) {
  auto fits = [&](ValueId v) {
    const Type& type = program.type_of(v);
    return type.is_tensor() && type.elements() > 0 &&
           (is_kernel_type(type.dtype) || (takes_complex(op) && is_complex(type.dtype)));
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

// Products that are too small for a library call to pay; or small ones of a matrix and a vector,
// which read every element once, so that there is nothing for a library to gain.
bool is_small_product(const Program& program, const Op& op) {
  constexpr std::int64_t kFewProducts = 1 << 12, kFewOfVectors = 1 << 17;
  const Type& type = program.type_of(program.result(op, 0));
  if (type.dtype == DType::f16 || type.dtype == DType::bf16 || type.dtype == DType::i1)
    return false;
  std::int64_t products = 1;
  for (const Factor& f : index_rule(program, op).factors) products *= f.size;
  if (products <= kFewProducts) return true;
  const auto operands = program.operands(op);
  const bool has_vector = std::max(program.type_of(operands[0]).elements(),
                                   program.type_of(operands[1]).elements()) == products;
  return has_vector && products <= kFewOfVectors;
}

// A slice that is small beside what it goes into: a library call writes only the slice, in place.
bool is_small_update(const Program& program, const Op& op) {
  const auto operands = program.operands(op);
  return program.type_of(operands[1]).elements() <= program.type_of(operands[0]).elements() / 4;
}

// Updates that are few beside a large input are a library call, which works in place; many that
// one worker would have to do by itself as well.
bool is_kernel_scatter(const Program& program, const Op& op) {
  constexpr std::int64_t kLarge = 1 << 14, kAlone = 1 << 16;
  const auto operands = program.operands(op);
  const std::int64_t input = program.type_of(operands[0]).elements();
  const std::int64_t updates = program.type_of(operands[op.result_count + 1]).elements();
  for (std::size_t i = 0; i < op.result_count; ++i)
    if (program.type_of(operands[i]).dtype != program.type_of(program.result(op, i)).dtype)
      return false;  // its region computes in a wider type
  if (input > kLarge && updates <= input / 4) return false;
  if (updates <= kAlone) return true;
  if (combines_in_any_order(program, op) && input <= updates / 64) return true;
  const ScatterDims dims = scatter_dimensions(program, op);
  return std::ranges::any_of(dims.updates, [&](const ScatterDims::Update& u) {
    return u.input >= 0 && !dims.by_data[static_cast<std::size_t>(u.input)];
  });
}

}  // namespace

bool is_stitchable(const Program& program, const Op& op) {
  if (!has_kernel_types(program, op)) return false;
  switch (op.def->emission) {
    case Emission::none:
      return false;
    case Emission::scatter:
      return is_combiner(program, op) && is_kernel_scatter(program, op);
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
    case Emission::dynamic_update_slice:
      return !is_small_update(program, op);
    case Emission::contract:
      return is_small_product(program, op);
    default:
      return true;
  }
}

}  // namespace heddle
