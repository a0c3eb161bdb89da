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

DType part_of(DType dtype) {
  if (dtype == DType::c64) return DType::f32;
  if (dtype == DType::c128) return DType::f64;
  return dtype;
}

// ---- rules whose result differs from the operand

// abs, real, imag: the result of a complex operand is of its parts' type.
template <Kinds kAllowed>
Verdict part_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(require_tensors(program, op));
  HEDDLE_TRY_VOID(require_kind(program, op, 0, kAllowed));
  Type expected = operand_type(program, op, 0);
  expected.dtype = part_of(expected.dtype);
  return require_result(program, op, 0, expected, "C2");
}

Verdict is_finite_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(require_tensors(program, op));
  HEDDLE_TRY_VOID(require_kind(program, op, 0, kFloat));
  return require_result(program, op, 0, Type::tensor(DType::i1, operand_type(program, op, 0).shape),
                        "C1");
}

Verdict complex_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(require_tensors(program, op));
  HEDDLE_TRY_VOID(require_same_operands(program, op, "C1"));
  const Type& part = operand_type(program, op, 0);
  if (part.dtype != DType::f32 && part.dtype != DType::f64)
    return reason("[complex] the parts are {}, but must be f32 or f64", part.str());
  const DType whole = part.dtype == DType::f32 ? DType::c64 : DType::c128;
  return require_result(program, op, 0, Type::tensor(whole, part.shape), "C2, C3");
}

Verdict convert_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(require_tensors(program, op));
  return require_result(
      program, op, 0,
      Type::tensor(result_type(program, op).dtype, operand_type(program, op, 0).shape), "C1");
}

Verdict compare_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(require_tensors(program, op));
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
  return require_result(program, op, 0, Type::tensor(DType::i1, operand.shape), "C2");
}

// A scalar, or of the shape of operand `model`.
Verdict require_scalar_or_shape(const Program& program, const Op& op, std::size_t operand,
                                std::size_t model, std::string_view label) {
  const Type& type = operand_type(program, op, operand);
  const Type& whole = operand_type(program, op, model);
  if (type.shape.empty() || type.shape == whole.shape) return yes();
  return reason(
      "{} {}: operand {} is {}, but must be a scalar or have the shape of operand {} ({})",
      bracketed(op), label, operand, type.str(), model, whole.str());
}

Verdict select_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(require_tensors(program, op));
  HEDDLE_TRY_VOID(require_kind(program, op, 0, kTruth));
  HEDDLE_TRY_VOID(require_scalar_or_shape(program, op, 0, 1, "C1"));
  const Type &yes_type = operand_type(program, op, 1), &no_type = operand_type(program, op, 2);
  if (yes_type != no_type)
    return reason("[select] C2: on_true is {}, but on_false is {}", yes_type.str(), no_type.str());
  return require_result(program, op, 0, yes_type, "C2");
}

Verdict clamp_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(require_tensors(program, op));
  HEDDLE_TRY_VOID(require_scalar_or_shape(program, op, 0, 1, "C1"));
  HEDDLE_TRY_VOID(require_scalar_or_shape(program, op, 2, 1, "C2"));
  const Type& operand = operand_type(program, op, 1);
  for (std::size_t bound : {0, 2})
    if (operand_type(program, op, bound).dtype != operand.dtype)
      return reason("[clamp] C3: operand {} is {}, but the operand is {}: element types differ",
                    bound, operand_type(program, op, bound).str(), operand.str());
  return require_result(program, op, 0, operand, "C4");
}

Verdict reduce_precision_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(require_tensors(program, op));
  HEDDLE_TRY_VOID(require_kind(program, op, 0, kFloat));
  const OpAttrs attrs{program, op};
  HEDDLE_TRY(auto exponent, attrs.integer("exponent_bits"));
  HEDDLE_TRY(auto mantissa, attrs.integer("mantissa_bits"));
  if (exponent < 1)
    return reason("[reduce_precision] C2: exponent_bits is {}, but must be at least 1", exponent);
  if (mantissa < 0)
    return reason("[reduce_precision] C3: mantissa_bits is {}, but must not be negative", mantissa);
  return require_result(program, op, 0, operand_type(program, op, 0), "C1");
}

// Where the result's elements are narrower, each operand element becomes a new last dimension of
// them; where they are wider, the last dimension is joined into one element.
Verdict bitcast_convert_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(require_tensors(program, op));
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

}  // namespace

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

Verdict require_tensors(const Program& program, const Op& op) {
  if (!op.def->operands.allows(op.operand_count) || !op.def->results.allows(op.result_count) ||
      !op.def->regions.allows(op.region_count))
    return reason("{} has {} operands, {} results and {} regions, which is not what it takes",
                  bracketed(op), op.operand_count, op.result_count, op.region_count);
  return check_tensors(program, op);
}

Verdict require_kind(const Program& program, const Op& op, std::size_t operand, Kinds kinds) {
  const Type& type = operand_type(program, op, operand);
  if (kind_of(type.dtype) & kinds) return yes();
  return reason("{} I{}: operand {} is {}, but its elements must be {}", bracketed(op), operand + 1,
                operand, type.str(), kinds_text(kinds));
}

Verdict require_result(const Program& program, const Op& op, std::size_t i, const Type& expected,
                       std::string_view label) {
  const Type& type = result_type(program, op, i);
  if (type == expected) return yes();
  return reason("{} {}: the result is {}, but must be {}", bracketed(op), label, type.str(),
                expected.str());
}

Verdict require_same_operands(const Program& program, const Op& op, std::string_view label) {
  const Type& first = operand_type(program, op, 0);
  for (std::size_t i = 1; i < op.operand_count; ++i)
    if (operand_type(program, op, i) != first)
      return reason("{} {}: operand {} is {}, but operand 0 is {}", bracketed(op), label, i,
                    operand_type(program, op, i).str(), first.str());
  return yes();
}

template <Kinds kAllowed>
Verdict same_type_rule(const Program& program, const Op& op) {
  HEDDLE_TRY_VOID(require_tensors(program, op));
  HEDDLE_TRY_VOID(require_kind(program, op, 0, kAllowed));
  HEDDLE_TRY_VOID(require_same_operands(program, op, "C1"));
  return require_result(program, op, 0, operand_type(program, op, 0), "C1");
}

template Verdict same_type_rule<kFloat>(const Program&, const Op&);
template Verdict same_type_rule<kInteger>(const Program&, const Op&);
template Verdict same_type_rule<kFloat | kComplex>(const Program&, const Op&);
template Verdict same_type_rule<kNumber>(const Program&, const Op&);
template Verdict same_type_rule<kAnything>(const Program&, const Op&);

TypeRule elementwise_rule(std::string_view op) {
  struct Row {
    std::string_view name;
    TypeRule rule;
  };
  static constexpr Row rows[] = {
      {"abs", part_rule < kSigned | kFloat | kComplex > },
      {"add", same_type_rule<kAnything>},
      {"and", same_type_rule < kTruth | kInteger > },
      {"atan2", same_type_rule < kFloat | kComplex > },
      {"bitcast_convert", bitcast_convert_rule},
      {"cbrt", same_type_rule < kFloat | kComplex > },
      {"ceil", same_type_rule<kFloat>},
      {"clamp", clamp_rule},
      {"compare", compare_rule},
      {"complex", complex_rule},
      {"convert", convert_rule},
      {"cosine", same_type_rule < kFloat | kComplex > },
      {"count_leading_zeros", same_type_rule<kInteger>},
      {"divide", same_type_rule<kNumber>},
      {"exponential", same_type_rule < kFloat | kComplex > },
      {"exponential_minus_one", same_type_rule < kFloat | kComplex > },
      {"floor", same_type_rule<kFloat>},
      {"imag", part_rule < kFloat | kComplex > },
      {"is_finite", is_finite_rule},
      {"log", same_type_rule < kFloat | kComplex > },
      {"log_plus_one", same_type_rule < kFloat | kComplex > },
      {"logistic", same_type_rule < kFloat | kComplex > },
      {"maximum", same_type_rule<kAnything>},
      {"minimum", same_type_rule<kAnything>},
      {"multiply", same_type_rule<kAnything>},
      {"negate", same_type_rule<kNumber>},
      {"not", same_type_rule < kTruth | kInteger > },
      {"or", same_type_rule < kTruth | kInteger > },
      {"popcnt", same_type_rule<kInteger>},
      {"power", same_type_rule<kNumber>},
      {"real", part_rule < kFloat | kComplex > },
      {"reduce_precision", reduce_precision_rule},
      {"remainder", same_type_rule<kNumber>},
      {"round_nearest_afz", same_type_rule<kFloat>},
      {"round_nearest_even", same_type_rule<kFloat>},
      {"rsqrt", same_type_rule < kFloat | kComplex > },
      {"select", select_rule},
      {"shift_left", same_type_rule<kInteger>},
      {"shift_right_arithmetic", same_type_rule<kInteger>},
      {"shift_right_logical", same_type_rule<kInteger>},
      {"sign", same_type_rule < kSigned | kFloat | kComplex > },
      {"sine", same_type_rule < kFloat | kComplex > },
      {"sqrt", same_type_rule < kFloat | kComplex > },
      {"subtract", same_type_rule<kNumber>},
      {"tan", same_type_rule < kFloat | kComplex > },
      {"tanh", same_type_rule < kFloat | kComplex > },
      {"xor", same_type_rule < kTruth | kInteger > },
  };
  for (const Row& row : rows)
    if (row.name == op) return row.rule;
  return nullptr;
}

}  // namespace heddle
