#include "ir/eval/elementwise_rules.h"

#include <algorithm>

#include "ir/attr_access.h"
#include "ir/shape_rules.h"

namespace heddle {

namespace {

std::string kinds_text(Kinds kinds) {
  std::string text;
  auto add = [&](Kinds kind, std::string_view word) {
    if ((kinds & kind) != kind) return;
    if (!text.empty()) text += ", ";
    text += word;
  };
  add(kTruth, "i1");
  add(kSigned, "signed integer");
  add(kUnsigned, "unsigned integer");
  add(kFloat, "floating-point");
  add(kComplex, "complex");
  return text;
}

}  // namespace

// ---- rules whose result differs from the operand

// abs, real, imag: the result of a complex operand is of its parts' type.
Expected<ResultTypes> part_of(const Program& program, const Op& op, Kinds allowed) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(require_kind(program, op, 0, allowed));
  const Type& operand = operand_type(program, op, 0);
  if (!is_complex(operand.dtype)) return like_operand(program, op, 0, "C2");
  return typed(Type::tensor(part_dtype(operand.dtype), operand.shape), "C2");
}

Expected<ResultTypes> is_finite_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(require_kind(program, op, 0, kFloat));
  return typed(Type::tensor(DType::i1, operand_type(program, op, 0).shape), "C1");
}

Expected<ResultTypes> complex_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(require_same_operands(program, op, "C1"));
  const Type& part = operand_type(program, op, 0);
  if (part.dtype != DType::f32 && part.dtype != DType::f64)
    return reason("[complex] the parts are {}, but must be f32 or f64", part.str());
  const DType whole = part.dtype == DType::f32 ? DType::c64 : DType::c128;
  return typed(Type::tensor(whole, part.shape), "C2, C3");
}

Verdict convert_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type& operand = operand_type(program, op, 0);
  const Type& result = result_type(program, op);
  if (result.shape == operand.shape) return yes();
  return broken(op, "C1", "the result is {}, but must be {}", result.str(),
                Type::tensor(result.dtype, operand.shape).str());
}

Expected<ResultTypes> compare_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(require_same_operands(program, op, "C1, C2"));
  const OpAttrs attrs{program, op};
  HEDDLE_TRY_VOID(attrs.word("comparison_direction", {"EQ", "NE", "GE", "GT", "LE", "LT"}));
  HEDDLE_TRY(auto order, attrs.word_or("compare_type", "NOTYPE",
                                       {"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED", "NOTYPE"}));
  const Type& operand = operand_type(program, op, 0);
  const Kinds kind = kind_of(operand.dtype);
  Kinds fitting = kAnything;
  if (order == "FLOAT") fitting = kFloat | kComplex;
  if (order == "TOTALORDER") fitting = kFloat;
  if (order == "SIGNED") fitting = kSigned;
  if (order == "UNSIGNED") fitting = kUnsigned | kTruth;
  if (!(kind & fitting))
    return reason("[compare] C3: compare_type {} is for {}, but the operands are {}", order,
                  kinds_text(fitting), operand.str());
  return typed(Type::tensor(DType::i1, operand.shape), "C2");
}

// A scalar, or of the shape of operand `model`.
static Verdict require_scalar_or_shape(const Program& program, const Op& op, std::size_t operand,
                                       std::size_t model, std::string_view label) {
  const Type& type = operand_type(program, op, operand);
  const Type& whole = operand_type(program, op, model);
  if (type.shape.empty() || type.shape == whole.shape) return yes();
  return reason(
      "{} {}: operand {} is {}, but must be a scalar or have the shape of operand {} ({})",
      bracketed(op), label, operand, type.str(), model, whole.str());
}

Expected<ResultTypes> select_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(require_kind(program, op, 0, kTruth));
  HEDDLE_TRY_VOID(require_scalar_or_shape(program, op, 0, 1, "C1"));
  const Type &yes_type = operand_type(program, op, 1), &no_type = operand_type(program, op, 2);
  if (yes_type != no_type)
    return reason("[select] C2: on_true is {}, but on_false is {}", yes_type.str(), no_type.str());
  return like_operand(program, op, 1, "C2");
}

Expected<ResultTypes> clamp_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(require_scalar_or_shape(program, op, 0, 1, "C1"));
  HEDDLE_TRY_VOID(require_scalar_or_shape(program, op, 2, 1, "C2"));
  const Type& operand = operand_type(program, op, 1);
  for (std::size_t bound : {0, 2})
    if (operand_type(program, op, bound).dtype != operand.dtype)
      return reason("[clamp] C3: operand {} is {}, but the operand is {}: element types differ",
                    bound, operand_type(program, op, bound).str(), operand.str());
  return like_operand(program, op, 1, "C4");
}

Expected<ResultTypes> reduce_precision_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(require_kind(program, op, 0, kFloat));
  const OpAttrs attrs{program, op};
  HEDDLE_TRY(auto exponent, attrs.integer("exponent_bits"));
  HEDDLE_TRY(auto mantissa, attrs.integer("mantissa_bits"));
  if (exponent < 1)
    return reason("[reduce_precision] C2: exponent_bits is {}, but must be at least 1", exponent);
  if (mantissa < 0)
    return reason("[reduce_precision] C3: mantissa_bits is {}, but must not be negative", mantissa);
  return like_operand(program, op, 0, "C1");
}

// Where the result's elements are narrower, each operand element becomes a new last dimension of
// them; where they are wider, the last dimension is joined into one element.
Verdict bitcast_convert_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  const Type &from = operand_type(program, op, 0), &to = result_type(program, op);
  if (is_complex(from.dtype) != is_complex(to.dtype))
    return reason("[bitcast_convert] C2: {} and {}: either both or neither must be complex",
                  from.str(), to.str());
  const int from_bits = bits(from.dtype), to_bits = bits(to.dtype);
  const bool narrower = to_bits < from_bits;
  const Type &many = narrower ? to : from, &few = narrower ? from : to;
  Shape joined = many.shape;
  bool fits = true;
  if (from_bits != to_bits) {
    const int most = std::max(from_bits, to_bits), least = std::min(from_bits, to_bits);
    fits = !joined.empty() && joined.back() == most / least && most % least == 0;
    if (fits) joined.pop_back();
  }
  if (fits && joined == few.shape) return yes();
  return reason(
      "[bitcast_convert] C1: {} cannot become {}: {}-bit elements become {}-bit ones, so the "
      "shapes must be equal but for a last dimension of {} where the elements are narrower",
      from.str(), to.str(), from_bits, to_bits,
      std::max(from_bits, to_bits) / std::min(from_bits, to_bits));
}

Expected<ResultTypes> same_types(const Program& program, const Op& op, Kinds allowed) {
  HEDDLE_TRY_VOID(check_tensors(program, op));
  HEDDLE_TRY_VOID(require_kind(program, op, 0, allowed));
  HEDDLE_TRY_VOID(require_same_operands(program, op, "C1"));
  return like_operand(program, op, 0, "C1");
}

Kinds kind_of(DType dtype) {
  switch (dtype) {
    case DType::i1:
      return kTruth;
    case DType::i2:
    case DType::i4:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
      return kSigned;
    case DType::ui2:
    case DType::ui4:
    case DType::ui8:
    case DType::ui16:
    case DType::ui32:
    case DType::ui64:
      return kUnsigned;
    case DType::c64:
    case DType::c128:
      return kComplex;
    default:
      return kFloat;
  }
}

Verdict require_kind(const Program& program, const Op& op, std::size_t operand, Kinds kinds) {
  const Type& type = operand_type(program, op, operand);
  if (kind_of(type.dtype) & kinds) return yes();
  return reason("{} I{}: operand {} is {}, but its elements must be {}", bracketed(op), operand + 1,
                operand, type.str(), kinds_text(kinds));
}

Verdict require_same_operands(const Program& program, const Op& op, std::string_view label) {
  const Type& first = operand_type(program, op, 0);
  for (std::size_t i = 1; i < op.operand_count; ++i)
    if (operand_type(program, op, i) != first)
      return reason("{} {}: operand {} is {}, but operand 0 is {}", bracketed(op), label, i,
                    operand_type(program, op, i).str(), first.str());
  return yes();
}

}  // namespace heddle
